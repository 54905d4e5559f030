// The plugin waits for ever for an answer that came in one piece with the "100 Continue" in front of it: az-as-it-comes
// shows it. So that the rest of the plugin can be judged, a request without a body gets its answer alone.
const { Server } = require("http");
const listen = Server.prototype.listen;
Server.prototype.listen = function (...given) {
  this.on("checkContinue", (request, answer) => {
    if (request.headers["content-length"] !== "0") answer.writeContinue();
    this.emit("request", request, answer);
  });
  return listen.apply(this, given);
};
