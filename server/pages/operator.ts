// The pages for operators, without a token: /healthz (the process lives), /readyz (it can serve: the database answers, and no
// drain is under way), /metrics.
import { apiError } from "../../schema/index.ts";
import type { Log } from "../base/log.ts";
import type { Metrics } from "../base/metrics.ts";
import { type Page, type Pages, pagesAt, reading } from "../rest/page.ts";
import { restError } from "../rest/status.ts";
import { lossIn } from "../store/failure.ts";
import type { Store } from "../store/store.ts";

export interface OperatorPagesOptions {
  store: Store;
  metrics: Metrics;
  isDraining: () => boolean;
  log: Log;
}

export const operatorPages = ({ metrics, ...parts }: OperatorPagesOptions): Pages =>
  pagesAt({
    ...reading("/healthz", () => OK),
    ...reading("/readyz", () => {
      const reason = unreadiness(parts);
      return reason ? restError(apiError("UNAVAILABLE", reason)) : OK;
    }),
    ...reading("/metrics", async () => ({
      http: 200,
      text: await metrics.text(),
      headers: { "content-type": metrics.contentType },
      quiet: true,
    })),
  });

const OK: Page = { http: 200, json: { status: "ok" }, quiet: true };

/** Why the server cannot serve now; undefined when it can. */
export const unreadiness = ({ store, isDraining, log }: Omit<OperatorPagesOptions, "metrics">): string | undefined =>
  isDraining() ? "the server is draining" : databaseFailure(store, log);

// Checks the files first, then reads through the connection.
const databaseFailure = (store: Store, log: Log): string | undefined => {
  try {
    store.check();
    store.statement("SELECT count(*) FROM sqlite_schema").get();
    return undefined;
  } catch (error) {
    if (lossIn(store.failure(error))) return "the server has lost its database; its log says what to do";
    log("error", "database failure", { error: error instanceof Error ? error.stack : String(error) });
    return "the database does not answer";
  }
};
