// A page in both colour schemes, as a reader's system asks for them.
import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "playwright-core";
import { expect } from "vitest";

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
