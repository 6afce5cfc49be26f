// The process of all programs of a worker: it runs the program of a folder each time that an engine asks it to, as a program of
// the Automation API runs, and so loads the SDK only once. `node test/harness/language-host.ts ENVIRONMENT`: the file of a program's
// folder with its environment. It prints its port, and ends when its standard input does.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Server, ServerCredentials } from "@grpc/grpc-js";
import * as automation from "@pulumi/pulumi/automation/server.js";
import language from "@pulumi/pulumi/proto/language_grpc_pb.js";
import * as settings from "@pulumi/pulumi/runtime/settings.js";

type Run = language.ILanguageRuntimeServer["run"];

/** What the Automation API serves an inline program with; not in the types of the SDK. */
const { LanguageServer } = automation as unknown as {
  LanguageServer: new (program: () => Promise<object>) => language.ILanguageRuntimeServer;
};

// The SDK never closes its connections. One that an engine left behind when it ended makes a later engine on the same port
// "UNAVAILABLE: No connection established" at once, where both share the pool of the process.
const { grpcClientOptions } = settings as unknown as { grpcClientOptions: Record<string, unknown> };
grpcClientOptions["grpc.use_local_subchannel_pool"] = 1;

const [, , environment = ""] = process.argv;
const own = { ...process.env };
let runs = 0;
// One program runs at a time: the folder and the environment are the process's.
let last = Promise.resolve();

const program = async (): Promise<object> => {
  const file = pathToFileURL(join(process.cwd(), existsSync("index.ts") ? "index.ts" : "index.js"));
  return { ...(await import(`${file}?run=${++runs}`)) };
};

const inTurn =
  (run: Run): Run =>
  (call, callback) => {
    const before = last;
    const ended = Promise.withResolvers<void>();
    last = ended.promise;
    // The engine was killed.
    call.on("cancelled", ended.resolve);
    void before.then(() => {
      process.chdir(call.request.getPwd());
      process.env = { ...own, ...JSON.parse(readFileSync(environment, "utf8")) };
      run(call, (...answer) => {
        ended.resolve();
        callback(...answer);
      });
    });
  };

const languageServer = new LanguageServer(program);
const run = languageServer.run.bind(languageServer);
languageServer.run = inTurn(run);

const server = new Server();
server.addService(language.LanguageRuntimeService, languageServer);
server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, port) => {
  if (error) throw error;
  console.log(port);
});
process.stdin.on("end", () => process.exit()).resume();
