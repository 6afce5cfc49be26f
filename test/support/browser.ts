// Pages in Chromium, and one in both colour schemes, as a reader's system asks for them.
import { AxeBuilder } from "@axe-core/playwright";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished } from "vitest";

/** Opens a page in a context of its own, which ends with the test; the browser ends with the suite. */
export const usePages = (executablePath: string | undefined) => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await chromium.launch({
      ...(executablePath && { executablePath }),
      args: ["--no-sandbox", "--disable-gpu"],
    });
  });
  afterAll(() => browser?.close());
  return async (url: string, options: BrowserContextOptions = {}) => {
    const context = await browser.newContext(options);
    onTestFinished(() => context.close());
    const page = await context.newPage();
    const [problems, requests]: [string[], string[]] = [[], []];
    page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
    page.on("pageerror", (error) => problems.push(error.message));
    page.on("request", (request) => request.url().startsWith("data:") || requests.push(request.url()));
    await page.goto(url);
    return { page, problems, requests };
  };
};

/** On a phone, a page is not wider than the screen. */
export const PHONE = { viewport: { width: 360, height: 740 } };

export const expectPhoneWidth = async (page: Page): Promise<void> =>
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(PHONE.viewport.width);

const brightness = (page: Page): Promise<number> =>
  page.evaluate(
    "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number).reduce((a, b) => a + b) / 3",
  );

/** Judges the page in light with all rules of axe, and in dark with the one that depends on the colours. */
export const inBothSchemes = async (page: Page, judge: (axe: AxeBuilder) => Promise<void>): Promise<void> => {
  await page.emulateMedia({ colorScheme: "light" });
  await transitionsEnd(page);
  expect(await brightness(page)).toBeGreaterThan(192);
  await judge(new AxeBuilder({ page }));
  await page.emulateMedia({ colorScheme: "dark" });
  await transitionsEnd(page);
  expect(await brightness(page)).toBeLessThan(64);
  await judge(new AxeBuilder({ page }).withRules(["color-contrast"]));
};

/** A colour in transition is neither light nor dark, and the end of one transition can begin another. */
const transitionsEnd = (page: Page): Promise<void> =>
  page.evaluate(`(async () => {
    for (let quiet = 0; quiet < 10; ) {
      await new Promise((drawn) => requestAnimationFrame(drawn));
      const running = document.getAnimations();
      await Promise.allSettled(running.map(({ finished }) => finished));
      quiet = running.length === 0 ? quiet + 1 : 0;
    }
  })()`);
