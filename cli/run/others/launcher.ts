// Stands where the engine finds a provider (others.ts): the process of the command starts the real one, and answers with the port of its
// guard. This one lives as long as the engine needs the provider.
import { connect } from "node:net";

const [socket = "", name, folder, ...args] = process.argv.slice(2);
const command = connect(socket, () => {
  command.write(`${JSON.stringify({ name, folder, args, cwd: process.cwd(), env: process.env })}\n`);
});
command.pipe(process.stdout);
command.on("error", () => process.exit(1));
command.on("close", () => process.exit(1));
// An engine that is killed cannot end it.
process.stdin.resume().on("end", () => process.exit(0));
