// The server's page at `/` in Chromium: light and dark, by keyboard, without JavaScript, on a phone.
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ensureChromium } from "../../scripts/setup/chromium.mjs";
import { createServer, type RunningServer } from "../../server/index.ts";
import { sharedKeys } from "../harness/api-server.ts";
import { expectPhoneWidth, inBothSchemes, PHONE, usePages } from "../support/browser.ts";

const { command, reason } = await ensureChromium();

// What the renderer itself lacks, inside its own part of the page.
const RENDERER_RULES = [
  "landmark-main-is-top-level",
  "nested-interactive",
  "scrollable-region-focusable",
  "select-name",
];

const LIST_GROUPS = "#operations-GroupsService-GroupsService_ListGroups";

describe.skipIf(reason !== undefined)(`in Chromium${reason === undefined ? "" : ` (skipped: ${reason})`}`, () => {
  let server: RunningServer;
  beforeAll(async () => {
    server = await createServer({ dev: true, keys: sharedKeys() });
  });
  afterAll(() => server?.close());

  const openAny = usePages(command);
  const open = (options: Parameters<typeof openAny>[1] = {}) =>
    openAny(server.baseUrl, { permissions: ["clipboard-read", "clipboard-write"], ...options });

  // By the names that a screen reader says.
  const listGroups = async (page: Page) => {
    await page.getByRole("button", { name: "Expand operation" }).first().waitFor();
    await page.locator("#operations-tag-GroupsService").getByRole("button").press("Enter");
    const operation = page.locator(LIST_GROUPS);
    await operation.getByRole("button", { name: /^GET/ }).press("Enter");
    // The renderer draws the button before it has resolved the operation, and finds none then. The example comes after that.
    await operation.locator(".highlight-code").first().waitFor();
    await operation.getByRole("button", { name: "Execute" }).press("Enter");
    await operation.locator(".live-responses-table").waitFor();
    return operation.locator(".live-responses-table").innerText();
  };

  test("renders the documentation, light and dark, and calls a method with the token", async () => {
    const { page, problems, requests } = await open();
    const answer = await listGroups(page);
    expect(answer).toContain("200");
    expect(answer).toContain(server.organization);
    await inBothSchemes(page, async (axe) => {
      const { violations } = await axe.analyze();
      const found = violations.flatMap(({ id, nodes }) =>
        nodes.map(({ target }) => ({ id, selector: String(target[0]) })),
      );
      const ours = [];
      for (const { id, selector } of found)
        if (!RENDERER_RULES.includes(id) || (await page.locator("#swagger-ui").locator(selector).count()) === 0)
          ours.push(`${id}: ${selector}`);
      expect(ours).toEqual([]);
    });
    expect(problems).toEqual([]);
    expect([...new Set(requests.map((url) => new URL(url).origin))]).toEqual([server.baseUrl]);
  });

  test("is used by keyboard: the first stop skips to the documentation, the next ones copy commands", async () => {
    const { page } = await open();
    await page.locator(".opblock-tag").first().waitFor();
    const focused = () => page.evaluate("document.activeElement.textContent");
    await page.keyboard.press("Tab");
    expect(await focused()).toBe("Skip to the documentation");
    await page.keyboard.press("Enter");
    await expect.poll(focused).toBe("Documentation");
    await page.locator('[data-copy="call-text"]').focus();
    await page.keyboard.press("Enter");
    await expect.poll(focused).toBe("Copied");
    expect(await page.evaluate("navigator.clipboard.readText()")).toMatch(
      /^export TOKEN=eyJ.*\ncurl .*\/iam\/v2beta1\/groups$/,
    );
  });

  test("can be read without JavaScript", async () => {
    const { page } = await open({ javaScriptEnabled: false });
    expect(await page.locator("body").innerText()).toContain(server.organization);
    expect(await page.getByRole("link", { name: "openapi.json", exact: true }).getAttribute("href")).toBe(
      "/openapi.json",
    );
    expect(await page.getByRole("button").count()).toBe(0);
  });

  test("fits a phone", async () => {
    const { page } = await open(PHONE);
    await page.locator(".opblock-tag").first().waitFor();
    await expectPhoneWidth(page);
  });
});
