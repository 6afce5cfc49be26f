// What a test runs on, and whom it is about.

import type { Access } from "../graph/effective-access.ts";
import type { AccessGraph, NodeId } from "../graph/graph.ts";
import type { NotVisible } from "../graph/live.ts";
import type { Budget } from "../pattern/budget.ts";
import type { Names } from "./names.ts";

export interface Scene {
  /** with people (access/graph/people.ts) */
  graph: AccessGraph;
  organization: NodeId;
  /** all that the tests are about; default: that one */
  organizations?: ReadonlySet<NodeId>;
  names: Names;
  notVisible: readonly NotVisible[];
  /** access that the change brings, and of which only the run knows to whom, where or what */
  notKnown?: readonly string[];
}

export interface Look extends Scene {
  /** where access counts for a test without a place */
  organizations: ReadonlySet<NodeId>;
  access: Access;
  /** for the questions about patterns, of one test */
  budget: Budget;
}

export interface Actor {
  identity: NodeId;
  /** `platform/release`, `review, which … can assume,` */
  words: string;
  /** false: it is not known whether the test is about it, which counts as yes where it must not do something */
  isCertain: boolean;
}
