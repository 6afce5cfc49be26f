// A process of an operation: `node operation-process.ts ADDRESS PID` joins the one of that engine, and prints a line. Then it carries out
// each call that it reads, `["take", "uid", "key", "created"]`, and prints what it returns.
import { createInterface } from "node:readline";
import { joinOperation } from "../../provider/log/operation.ts";
import { createOwnership, type Ownership } from "../../provider/run/ownership.ts";

const [address, pid] = process.argv.slice(2) as [string, string];
const ownership = createOwnership(joinOperation({ address, pid: Number(pid) }), "https://service.example.com");
const print = (value: unknown) => process.stdout.write(`${JSON.stringify(value)}\n`);
const call = ([name, ...args]: [keyof Ownership, ...never[]]): unknown => {
  try {
    return (ownership[name] as (...given: never[]) => unknown)(...args) ?? null;
  } catch (error) {
    return (error as Error).message;
  }
};

print("joined");
createInterface({ input: process.stdin })
  .on("line", (line) => print(call(JSON.parse(line))))
  // Its parent has ended it.
  .on("close", () => process.exit());
