// Every state points to this file, for ever: the handler text of provider/program/resource.ts imports
// `pulumi-irm/dynamic` and calls `kinds.<kind>.<method>`. Neither the path nor these names may change: old
// states could then not be deleted.
// It must not import @pulumi/pulumi, which takes four times as long to load as all of this.

import { systemEnvironment } from "../session/session.ts";
import { engineEnd, engineOf, untilEnd } from "./engine-end.ts";
import { methodsWith } from "./methods.ts";
import { silencing } from "./report.ts";

const engine = engineOf(process.argv);
const methods = methodsWith({ ...systemEnvironment(), ...(engine && { silence: silencing(console) }) });

export const kinds = engine ? untilEnd(methods, engineEnd(engine), () => process.exit()) : methods;
