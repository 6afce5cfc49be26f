// How Pulumi finds our code again: a dynamic resource carries its provider as text in the input `__provider`, stored twice in the
// state of each resource, and run from there by refresh and delete. What it names must never change.
//
// pulumi.dynamic.Resource would serialise an object into that text: 2,197 characters for six methods that import this
// package, 318 ms for the first of them; kilobytes for an object per resource. A text of our own, the same for every
// resource of a kind, is understood by the SDK's provider as well (it calls `exports.handler()`): 57 to 72 characters. The
// file backend writes the whole state at every step, so bytes per resource are seconds: with a provider that does nothing, 500
// creates took 17 s with a text of 197 characters, 37 s with one object, 52 s with an object each.
// test/provider/engine/dynamic.test.ts fails when an SDK changes any of it.
import type { StateKind } from "../kind/index.ts";

/**
 * The handler: it returns the methods of `pulumi-irm/dynamic` (handler.ts). `require` looks in the node_modules of the program, and this
 * repository is there too (scripts/setup/own-package.mjs).
 */
export const handlerText = (kind: StateKind): string =>
  `exports.handler=()=>require('pulumi-irm/dynamic').kinds.${kind}`;
