// `/faults`, for tests of clients in other processes: GET returns the script and the report, PUT takes a new script, POST
// `/faults/release` releases what is held. It takes no token, and so only requests by a name of loopback, and none that a
// browser sends for a page of another origin.
import { invalidArgument } from "../../schema/index.ts";
import { type Pages, refusalOfForeign } from "../rest/page.ts";
import { restError } from "../rest/status.ts";
import type { FaultControl } from "./faults.ts";
import { FaultsError, parseFaults } from "./script.ts";

const SERVED = new Set(["GET /faults", "PUT /faults", "POST /faults/release"]);

export const faultsPage =
  (faults: FaultControl): Pages =>
  async (request) => {
    const { method, path, body } = request;
    if (!SERVED.has(`${method} ${path}`)) return undefined;
    const refusal = refusalOfForeign("the scripted failures are", request);
    if (refusal) return refusal;
    if (method === "POST") faults.release();
    if (method === "PUT") {
      const text = (await body()).toString("utf8");
      try {
        faults.set(parseFaults(text, "body"));
      } catch (error) {
        if (!(error instanceof FaultsError)) throw error;
        return restError(invalidArgument(error.message.split("\n").map((description) => ({ field: "", description }))));
      }
    }
    return { http: 200, json: { faults: faults.script(), attempts: faults.attempts() } };
  };
