// The page of a review in Chromium: light and dark, by search, without JavaScript, on a phone.
import { writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { answerAsHtml } from "../../access/format/answer.ts";
import { reviewAsHtml } from "../../access/format/html/review.ts";
import { answerOf } from "../../access/query/answer.ts";
import { ensureChromium } from "../../scripts/setup/chromium.mjs";
import { largeReview, smallReview } from "../access/format/reviews.ts";
import { expectPhoneWidth, inBothSchemes, PHONE, usePages } from "../support/browser.ts";
import { temporaryFolder } from "../support/command.ts";

/** identities, groups, role bindings */
const SIZES = [
  [5, 4, 12],
  [50, 12, 150],
  [500, 60, 2_000],
] as const;

const { command, reason } = await ensureChromium();

describe.skipIf(reason !== undefined)(`in Chromium${reason === undefined ? "" : ` (skipped: ${reason})`}`, () => {
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

  const openAny = usePages(command);
  const urlOf = (name: string) => pathToFileURL(folder.path(name)).href;
  const open = (name: string, options?: Parameters<typeof openAny>[1]) => openAny(urlOf(name), options);

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

  test("is clean for axe, light and dark, and requests nothing but itself", async () => {
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

  test("is complete without JavaScript", async () => {
    const { page, problems } = await open("small.html", { javaScriptEnabled: false });
    expect(await page.getByRole("searchbox").count()).toBe(0);
    expect(await rowsShown(page)).toContain("admin");
    const text = await page.locator("main").innerText();
    for (const part of ["gains-owner", "gains 155 capabilities", "admin", "old-images", "tag.delete"])
      expect(text).toContain(part);
    expect(problems).toEqual([]);
  });

  test("fits a phone", async () => {
    const { page } = await open("small.html", PHONE);
    await expectPhoneWidth(page);
  });
});
