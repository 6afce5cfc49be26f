// Makes the run of an inline program of the Automation API fail when an input of a resource does.
//
// A resource whose input rejects is never registered. The SDK reports that only after it has signalled the end of the program, on which
// the engine deletes what was not registered: a misspelt argument would end access. A pending call that fails keeps the SDK from
// signalling it (`disconnect()` in @pulumi/pulumi/runtime/settings.ts).
import { createRequire } from "node:module";
import * as pulumi from "@pulumi/pulumi";
import { awaitValue } from "./output.ts";
import { isOnCommandLine } from "./per-run.ts";

export const failWith = (inputs: pulumi.Inputs): void => {
  // The command line ends with the rejections that nothing handles, and signals no end (@pulumi/pulumi/cmd/run/index.ts).
  if (isOnCommandLine()) return;
  const before = callsSoFar();
  const done = pulumi.runtime.rpcKeepAlive() as (outcome?: Promise<never>) => void;
  // The SDK waits for it later. Without a handler until then, Node warns of the rejection.
  callsSoFar()?.catch(() => undefined);
  awaitValue(pulumi.output(inputs)).then(
    () => done(),
    (error) => afterThese(before, () => done(Promise.reject(error)), done),
  );
};

/** A call is waited for once those before it have ended. One that has failed by then ends the program without this one. */
const afterThese = (before: Promise<unknown> | undefined, fail: () => void, end: () => void): void => {
  if (before) before.then(fail, () => end());
  else fail();
};

const require = createRequire(import.meta.url);

/** All pending calls of the program. The SDK's own, not in its types (@pulumi/pulumi/runtime/state.ts); undefined where it has moved. */
const callsSoFar = (): Promise<unknown> | undefined => {
  try {
    const { getStore } = require("@pulumi/pulumi/runtime/state.js") as {
      getStore(): { settings: { rpcDone?: Promise<unknown> } };
    };
    return getStore().settings.rpcDone;
  } catch {
    return undefined;
  }
};
