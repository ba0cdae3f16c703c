/**
 * The id that GitHub gives a heading, so that `page.md#heading` leads to the same place there and on the site.
 * @param {string} heading
 */
export function githubSlug(heading) {
  return heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
    .replaceAll(' ', '-')
}
