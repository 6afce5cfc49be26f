// Runs in the browser: renders the documentation, follows the color scheme of the system, copies commands.
const dark = matchMedia("(prefers-color-scheme: dark)");
const followScheme = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", followScheme);
followScheme();

const { token } = document.getElementById("swagger-ui").dataset;
const documentation = SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#swagger-ui",
  deepLinking: true,
  displayRequestDuration: true,
  docExpansion: "none",
  filter: true,
  tryItOutEnabled: true,
  // The validator is a service of a third party.
  validatorUrl: null,
  onComplete: () => {
    if (token) documentation.preauthorizeApiKey("bearer", token);
  },
});

// The renderer keeps its state in the fragment, so the link must not use it.
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  document.getElementById("documentation").focus();
});

for (const button of document.querySelectorAll("button[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
    button.textContent = "Copied";
    setTimeout(() => {
      button.textContent = "Copy";
    }, 2000);
  });
}
