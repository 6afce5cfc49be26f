// The pictures of README, in docs/images: the page of `npx pulumi-irm review --format html` for the edit of the demo, in Chromium, light
// and dark. Uids, the port, the time and the fonts differ from run to run, so nothing compares the bytes.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Browser, chromium } from "playwright-core";
import { root } from "./base/project.mjs";
import { openPlace } from "./demo/place.ts";
import { ensureChromium } from "./setup/chromium.mjs";

/** The width in README, in CSS pixels. The picture has twice as many. */
const WIDTH = 900;

/** From the title to the end of the findings: the map, and the marks of the rules. */
const photograph = async (browser: Browser, html: string, colorScheme: "light" | "dark"): Promise<Buffer> => {
  const context = await browser.newContext({
    viewport: { width: WIDTH, height: WIDTH },
    deviceScaleFactor: 2,
    colorScheme,
  });
  const page = await context.newPage();
  await page.setContent(html);
  const last = await page.locator("section[aria-labelledby=findings]").boundingBox();
  if (last === null) throw new Error("the review of the edit has no finding");
  const height = Math.ceil(last.y + last.height) + 20;
  const devtools = await context.newCDPSession(page);
  // Playwright itself writes no WebP, which takes far fewer bytes than its PNG.
  const { data } = await devtools.send("Page.captureScreenshot", {
    format: "webp",
    quality: 60,
    captureBeyondViewport: true,
    clip: { x: 0, y: 0, width: WIDTH, height, scale: 2 },
  });
  return Buffer.from(data, "base64");
};

const { command, reason } = await ensureChromium();
if (command === undefined) throw new Error(`The pictures need a browser: ${reason}. Install one.`);
const { stack, edit, irm, close } = await openPlace();
try {
  await stack.must("up", "--yes", "--skip-preview");
  await edit();
  const html = await irm("review", "--format", "html");
  const browser = await chromium.launch({ executablePath: command, args: ["--no-sandbox", "--disable-gpu"] });
  for (const scheme of ["light", "dark"] as const) {
    const file = `docs/images/review-${scheme}.webp`;
    const picture = await photograph(browser, html, scheme);
    writeFileSync(join(root, file), picture);
    console.log(`${file}: ${picture.length} bytes`);
  }
  await browser.close();
} finally {
  await close();
}
