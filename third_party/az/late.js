// The plugin waits for ever for an answer that came in one piece with the "100 Continue" in front of it. az-undelayed
// shows it. So that the rest of the plugin can be judged, the answer comes a little later.
const { Server } = require("http");
const emit = Server.prototype.emit;
Server.prototype.emit = function (event, request, ...more) {
  if (event !== "request" || !request.headers.expect) return emit.call(this, event, request, ...more);
  setTimeout(() => emit.call(this, event, request, ...more), 10);
  return true;
};
