// A process that copies the service at the address of its argument and serves the copy; with `ask`, it also asks what each identity may do
// there (bench/access.ts). Without an address it does nothing: that is what its modules take.
import { copyOf } from "../cli/copy.ts";
import { accessOf } from "../cli/twin/access.ts";
import { startTwin } from "../cli/twin/twin.ts";
import { clientWith } from "../client/client.ts";
import { systemClock } from "../client/clock.ts";
import { readConfig } from "../client/credentials.ts";
import { redactor } from "../client/redact.ts";
import { systemTransport } from "../client/transport.ts";

const [address, ask] = process.argv.slice(2);
if (address !== undefined) {
  const { env } = process;
  const config = readConfig(undefined, env);
  const client = clientWith({ config, env, clock: systemClock, redactor: redactor(), transport: systemTransport() });
  const copy = await copyOf(client, address);
  const twin = await startTwin(copy, address);
  const identities = ask === undefined ? [] : (copy.records.identities ?? []);
  await accessOf(
    twin,
    identities.map(({ uid }) => uid),
  );
  await twin.close();
}
