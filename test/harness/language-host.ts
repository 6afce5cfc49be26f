// The process of a program: `node test/harness/language-host.ts FILE` runs FILE each time that an engine asks it to, as a program
// of the Automation API runs, and so loads the SDK only once. It prints its port, and ends when its standard input does.
import { pathToFileURL } from "node:url";
import { Server, ServerCredentials } from "@grpc/grpc-js";
import * as automation from "@pulumi/pulumi/automation/server.js";
import language from "@pulumi/pulumi/proto/language_grpc_pb.js";

/** What the Automation API serves an inline program with; not in the types of the SDK. */
const { LanguageServer } = automation as unknown as {
  LanguageServer: new (program: () => Promise<object>) => language.ILanguageRuntimeServer;
};

const [, , file = ""] = process.argv;
let runs = 0;
const program = async (): Promise<object> => ({ ...(await import(`${pathToFileURL(file)}?run=${++runs}`)) });

const server = new Server();
server.addService(language.LanguageRuntimeService, new LanguageServer(program));
server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, port) => {
  if (error) throw error;
  console.log(port);
});
process.stdin.on("end", () => process.exit()).resume();
