#!/bin/sh
# A name node and a data node in one container. What they hold is gone with it.
set -eu
# The released jar has no pages for the web servers, which look for the folders.
mkdir -p webapps/hdfs webapps/datanode
# WebHDFS writes classes, which Java allows since 17 only where it is told to.
java="java -XX:+UseSerialGC -Xmx512m --add-opens=java.base/java.lang=ALL-UNNAMED"
hadoop="$java -cp /etc/hadoop:.:/opt/hadoop.jar org.apache.hadoop.hdfs.server"
$hadoop.namenode.NameNode -format
$hadoop.datanode.DataNode &
exec $hadoop.namenode.NameNode
