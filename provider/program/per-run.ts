// What belongs to one run of a program. The Automation API runs several programs in one process, or one several times; each run
// has its own connection to the engine.
import * as pulumi from "@pulumi/pulumi";
import { getOrInsert } from "../../schema/index.ts";

/** Without an engine, as in a script: one for the whole process. */
const NO_ENGINE = {};

/** Returns what `make` has made for the run that calls. */
export const perRun = <T>(make: (monitor: object | undefined) => T): (() => T) => {
  const made = new WeakMap<object, { value: T }>();
  return () => {
    const monitor = pulumi.runtime.getMonitor();
    return getOrInsert(made, monitor ?? NO_ENGINE, () => ({ value: make(monitor) })).value;
  };
};

/**
 * Whether `pulumi` has started this process for the program. It then ends with the rejections that nothing handles, and signals no end of
 * the program (@pulumi/pulumi/cmd/run/index.ts). A pending call that fails would only make Node warn of it.
 */
export const isOnCommandLine = (): boolean =>
  /[\\/]@pulumi[\\/]pulumi[\\/]cmd[\\/]run[\\/]index\.js$/.test(process.mainModule?.filename ?? "");

const constructed = perRun(() => ({ isPart: false }));

/** This run is the part of a program that the plugin constructs for it: one component, in the plugin's own process. */
export const noteConstructed = (): void => {
  constructed().isPart = true;
};

export const isConstructed = (): boolean => constructed().isPart;
