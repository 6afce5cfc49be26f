// The server's page at `/` and the page of a review in Chromium: light and dark, by keyboard and search, without JavaScript, on a phone.
import { writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { answerAsHtml } from "../../access/format/answer.ts";
import { reviewAsHtml } from "../../access/format/html/review.ts";
import { answerOf } from "../../access/query/answer.ts";
import { ensureChromium } from "../../scripts/setup/chromium.mjs";
import { createServer, type RunningServer } from "../../server/index.ts";
import { largeReview, smallReview } from "../access/format/reviews.ts";
import { sharedKeys } from "../harness/api-server.ts";
import { expectPhoneWidth, inBothSchemes, PHONE, usePages } from "../support/browser.ts";
import { temporaryFolder } from "../support/command.ts";

const { command, reason } = await ensureChromium();

// What the renderer itself lacks, inside its own part of the page.
const RENDERER_RULES = [
  "landmark-main-is-top-level",
  "nested-interactive",
  "scrollable-region-focusable",
  "select-name",
];

const LIST_GROUPS = "#operations-GroupsService-GroupsService_ListGroups";

/** identities, groups, role bindings */
const SIZES = [
  [5, 4, 12],
  [50, 12, 150],
  [500, 60, 2_000],
] as const;

describe.skipIf(reason !== undefined)(`in Chromium${reason === undefined ? "" : ` (skipped: ${reason})`}`, () => {
  const openAny = usePages(command);
  type OpenOptions = Parameters<typeof openAny>[1];
  let server: RunningServer;
  beforeAll(async () => {
    server = await createServer({ dev: true, keys: sharedKeys() });
  });
  afterAll(() => server?.close());

  const openHome = (options: OpenOptions = {}) =>
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

  test("the home page renders the documentation, light and dark, and calls a method with the token", async () => {
    const { page, problems, requests } = await openHome();
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

  test("the home page is used by keyboard: the first stop skips to the documentation, the next ones copy commands", async () => {
    const { page } = await openHome();
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

  test("the home page can be read without JavaScript", async () => {
    const { page } = await openHome({ javaScriptEnabled: false });
    expect(await page.locator("body").innerText()).toContain(server.organization);
    expect(await page.getByRole("link", { name: "openapi.json", exact: true }).getAttribute("href")).toBe(
      "/openapi.json",
    );
    expect(await page.getByRole("button").count()).toBe(0);
  });

  test("the home page fits a phone", async () => {
    const { page } = await openHome(PHONE);
    await page.locator(".opblock-tag").first().waitFor();
    await expectPhoneWidth(page);
  });

  const folder = temporaryFolder();
  beforeAll(() => {
    writeFileSync(folder.path("small.html"), reviewAsHtml(smallReview()));
    for (const [identities, groups, bindings] of SIZES) {
      const review = largeReview(7, { groups, identities, bindings, changes: 6 });
      const answer = answerOf({ graph: review.before, notVisible: [] }, {});
      writeFileSync(folder.path(`review-${identities}.html`), reviewAsHtml(review));
      writeFileSync(folder.path(`access-${identities}.html`), answerAsHtml(answer));
    }
  });
  afterAll(folder.remove);

  const urlOf = (name: string) => pathToFileURL(folder.path(name)).href;
  const open = (name: string, options?: OpenOptions) => openAny(urlOf(name), options);

  // A fold is the same table with more rows, and axe takes a minute for those of 500 identities.
  test.each([
    ["review-5.html", "section[aria-labelledby=map]"],
    ["access-50.html", "section[aria-labelledby=map]"],
    ["review-500.html", "section[aria-labelledby=map] > .map"],
  ])("the map of %s is a table that axe and a reader of the screen understand, light and dark", async (name, part) => {
    const { page, problems } = await open(name);
    await inBothSchemes(page, async (axe) => {
      const { violations } = await axe.include(part).analyze();
      expect(violations.map(({ id }) => id)).toEqual([]);
    });
    const first = page.locator(".map").first();
    const [heads, row] = [await first.locator("thead th").count(), first.locator("tbody tr").first()];
    expect(await row.locator("th, td").count()).toBe(heads);
    expect(await first.ariaSnapshot()).toMatch(/cell "([GWUR]|\+[GWUR]|[±−]).* (gives|writes|uses|reads)/);
    expect(problems).toEqual([]);
  });

  test("the heads of the map stay in view while it scrolls in its own box, on a phone too", async () => {
    const { page } = await open("review-500.html", PHONE);
    await expectPhoneWidth(page);
    const map = page.locator(".map").first();
    const corner = async () => await map.locator("thead th").first().boundingBox();
    const before = await corner();
    const box = "document.querySelector('.map')";
    await page.evaluate(`${box}.scrollTo(200, 300)`);
    expect(await page.evaluate(`[${box}.scrollLeft, ${box}.scrollTop]`)).toEqual([200, 300]);
    const caption = 40;
    const after = await corner();
    expect(after?.x).toBe(before?.x);
    expect(Math.abs((after?.y ?? 0) - (before?.y ?? 0))).toBeLessThan(caption);
  });

  test("the page of a review is clean for axe, light and dark, and requests nothing but itself", async () => {
    const { page, problems, requests } = await open("small.html");
    await inBothSchemes(page, async (axe) => {
      const { violations } = await axe.analyze();
      expect(violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${String(target[0])}`))).toEqual(
        [],
      );
    });
    expect(problems).toEqual([]);
    expect(requests).toEqual([urlOf("small.html")]);
  });

  const rowsShown = (page: Page) => page.locator(".map tbody tr:visible th").allInnerTexts();

  test("the search finds groups, roles and identities, and hides what lacks them", async () => {
    const { page } = await open("small.html");
    const search = page.getByRole("searchbox", { name: "Search" });
    const sections = page.locator("main > section:visible");
    const all = await sections.count();
    await search.fill("DEPLOY");
    expect(await rowsShown(page)).toEqual(["deploy new"]);
    expect(await page.locator(".identity:visible").count()).toBe(1);
    await search.fill("legacy publisher");
    expect(await page.locator(".identity:visible > summary b").allInnerTexts()).toEqual(["release"]);
    await search.fill("nothing of this name");
    expect(await page.getByRole("status").innerText()).toBe("0 matches");
    await search.fill("");
    expect(await rowsShown(page)).toContain("admin");
    expect(all).toBe(18);
    expect(await sections.count()).toBe(all);
  });

  test("a link to a long list of capabilities opens it", async () => {
    const { page } = await open("small.html");
    const list = page.locator("#capabilities-1");
    expect(await list.isVisible()).toBe(false);
    await page.getByRole("link", { name: "155 capabilities" }).click();
    await expect.poll(() => list.isVisible()).toBe(true);
  });

  test("the page of a review is complete without JavaScript", async () => {
    const { page, problems } = await open("small.html", { javaScriptEnabled: false });
    expect(await page.getByRole("searchbox").count()).toBe(0);
    expect(await rowsShown(page)).toContain("admin");
    const text = await page.locator("main").innerText();
    for (const part of ["gains-owner", "gains 155 capabilities", "admin", "old-images", "tag.delete"])
      expect(text).toContain(part);
    expect(problems).toEqual([]);
  });

  test("the page of a review fits a phone", async () => {
    const { page } = await open("small.html", PHONE);
    await expectPhoneWidth(page);
  });
});
