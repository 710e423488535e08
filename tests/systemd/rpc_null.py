# rpc_null.py - calls the procedure that does nothing of an NFS server, N times.
# SPDX-License-Identifier: Apache-2.0
#
# usage: rpc_null.py HOST PORT N
import socket
import struct
import sys

NFS, VERSION, CALL = 100003, 4, 0
good = 0
for xid in range(1, int(sys.argv[3]) + 1):
    # each call is a connection of its own, which the server has to set up
    with socket.create_connection((sys.argv[1], int(sys.argv[2])), 20) as s:
        call = struct.pack(">10I", xid, CALL, 2, NFS, VERSION, 0, 0, 0, 0, 0)
        s.sendall(struct.pack(">I", 0x80000000 | len(call)) + call)
        answer = s.recv(1024)
        if struct.unpack(">3I", answer[4:16]) == (xid, 1, 0):
            good += 1
print(f"{good} answers")
