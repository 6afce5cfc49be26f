// The class of a kind, in the package of each language and as a type token.
import type { ExportKind } from "./read.ts";

/** `roleBinding` to `RoleBinding` */
export const classOf = ({ kind }: { kind: ExportKind }): string => kind.charAt(0).toUpperCase() + kind.slice(1);
