// `/faults`, for tests of clients in other processes: GET tells the script and the report, PUT takes a new script; POST
// `/faults/release` lets go what is held. Without a token, and so by a name of loopback only, as the development issuer.
import { apiError, invalidArgument, isLoopbackAuthority } from "../../schema/index.ts";
import { refused } from "../pages/issuer.ts";
import type { HttpOptions, Page } from "../rest/server.ts";
import type { FaultControl } from "./faults.ts";
import { FaultsError, parseFaults } from "./script.ts";

const ASKED = new Set(["GET /faults", "PUT /faults", "POST /faults/release"]);

export const faultsPage =
  (faults: FaultControl): HttpOptions["pages"] =>
  async (method, path, body, host): Promise<Page | undefined> => {
    if (!ASKED.has(`${method} ${path}`)) return undefined;
    if (!isLoopbackAuthority(host))
      return refused(apiError("PERMISSION_DENIED", "the scripted failures are reached by a name of loopback only"));
    if (method === "POST") faults.release();
    if (method === "PUT") {
      const text = (await body()).toString("utf8");
      try {
        faults.set(parseFaults(text, "body"));
      } catch (error) {
        if (!(error instanceof FaultsError)) throw error;
        return refused(invalidArgument(error.message.split("\n").map((description) => ({ field: "", description }))));
      }
    }
    return { status: 200, json: { faults: faults.script(), attempts: faults.attempts() } };
  };
