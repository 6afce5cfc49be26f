// Every state points to this file: the handler text (provider/program/form.ts) imports `pulumi-irm/dynamic` and calls
// `kinds.<kind>.<method>`. Neither the path nor these names may ever change: otherwise nothing could delete the records of an old state. It
// must not import @pulumi/pulumi, which loads four times as long as all of this.
import { engineProcess } from "../../pulumi/process.ts";
import { systemEnvironment } from "../run/session.ts";
import { storedStacks } from "../run/stored-stack.ts";
import { engineCancel, engineEnd, engineOf, untilEnd } from "./engine-end.ts";
import { methodsWith } from "./methods.ts";
import { silencing } from "./report.ts";

const engine = engineOf(process.argv);
const cancelled = engine && engineCancel();
const methods = methodsWith({
  ...systemEnvironment(),
  ...(engine && {
    silence: silencing(console),
    engine: { address: `${engine.host}:${engine.port}`, pid: engineProcess()?.pid },
    cancelled,
    storedStacks: storedStacks({ env: process.env, cwd: process.cwd(), cancelled }),
  }),
});

export const kinds = engine ? untilEnd(methods, engineEnd(engine), () => process.exit()) : methods;
