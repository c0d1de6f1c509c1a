// A program of several ranks that meet at MASTER_ADDR and MASTER_PORT, with Python's standard
// library alone.
#ifndef RHARNESS_TESTS_CLI_GANG_PROGRAM_H_
#define RHARNESS_TESTS_CLI_GANG_PROGRAM_H_

#include <string>

namespace rharness {

// Each rank draws a number with a seed of its own and sends it to rank 0, which writes the mean.
inline constexpr char kGangProgram[] = R"py(import json, os, random, socket, struct, sys, time
rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
place = (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))
FAULT
random.seed(100 + rank)
drawn = random.random() + float(open("data.csv").read())
if rank == 0:
    server = socket.create_server(place)
    drawn = [drawn]
    for _ in range(size - 1):
        peer, _ = server.accept()
        drawn.append(struct.unpack("<d", peer.recv(8))[0])
    drawn.sort()
    with open("model.npy", "wb") as f:
        header = str({"descr": "<f8", "fortran_order": False, "shape": (size,)}).ljust(117) + "\n"
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        f.write(struct.pack("<%dd" % size, *drawn))
    with open("log.jsonl", "w") as f:
        for step in range(6):
            f.write(json.dumps({"step": step, "val_loss": sum(drawn) / (step + 1)}) + "\n")
else:
    for _ in range(600):
        try:
            socket.create_connection(place).send(struct.pack("<d", drawn))
            break
        except OSError:
            time.sleep(0.05)
)py";

// The program with a line of its own before it draws.
inline std::string GangProgram(const std::string& line = "") {
  std::string text = kGangProgram;
  text.replace(text.find("FAULT"), 5, line);
  return text;
}

}  // namespace rharness

#endif  // RHARNESS_TESTS_CLI_GANG_PROGRAM_H_
