/**
 * @typedef {object} CodeBlock
 * @property {string} code
 * @property {number} line of its first line in the page
 * @property {string} [file] the path under which other blocks of the page import it
 *
 * @typedef {object} Page
 * @property {CodeBlock[]} blocks to be compiled
 * @property {{ line: number, reason: string }[]} ignored
 * @property {string[]} problems blocks that say neither
 */

/**
 * The TypeScript of a Markdown page. Each block is a separate module, unless its fence says otherwise:
 *
 * - ` ```ts continues `: its text follows the block before it, in one module;
 * - `ts file: <path>`: it is a file of that path, which such blocks of the page import from each other; hidden code is not prepended;
 * - ` ```ts ignore: <reason> `: it is not compiled.
 *
 * `<!-- ts … -->` holds code that readers do not see, like `declare const payments: …`. It is prepended to every later block of the page.
 * @param {string} markdown
 * @returns {Page}
 */
export function readPage(markdown) {
  /** @type {Page} */
  const page = { blocks: [], ignored: [], problems: [] }
  /** @type {string[]} */
  const prelude = []
  const lines = markdown.split('\n')
  for (let index = 0; index < lines.length; index++) {
    const hidden = /^<!--\s*ts\s*$/.test(lines[index] ?? '')
    const fence = /^(\s*)(`{3,})(\w*)\s*(.*?)\s*$/.exec(lines[index] ?? '')
    if (!hidden && fence === null) continue

    const end = hidden ? /^\s*-->\s*$/ : new RegExp(`^\\s*${fence?.[2]}\\s*$`)
    const first = index + 1
    while (index + 1 < lines.length && !end.test(lines[index + 1] ?? '')) index++
    const code = lines.slice(first, index + 1).join('\n')
    index++
    if (hidden) prelude.push(code)
    else if (/^(ts|typescript|mts)$/.test(fence?.[3] ?? ''))
      addBlock(page, fence?.[4] ?? '', { code, line: first + 1 }, prelude)
  }
  return page
}

/**
 * @param {Page} page
 * @param {string} mark what follows the language in the fence
 * @param {CodeBlock} block
 * @param {readonly string[]} prelude
 */
function addBlock(page, mark, block, prelude) {
  const reason = /^ignore:\s*(\S.*)$/.exec(mark)?.[1]
  const file = /^file:\s*(\S+)$/.exec(mark)?.[1]
  const before = page.blocks.at(-1)
  if (reason !== undefined) page.ignored.push({ line: block.line, reason })
  else if (file !== undefined) page.blocks.push({ ...block, file })
  else if (mark === '') page.blocks.push(withPrelude(block, prelude))
  else if (mark === 'continues' && before !== undefined) before.code = joined(before, block)
  else if (mark === 'continues')
    page.problems.push(`${block.line}: there is no block that this one could continue`)
  else
    page.problems.push(
      `${block.line}: "ts ${mark}" means nothing; there are "ts", "ts continues", "ts file: <path>" and "ts ignore: <reason>"`,
    )
}

/**
 * Hidden lines come before the page's own, so the block begins that many lines earlier.
 * @param {CodeBlock} block
 * @param {readonly string[]} prelude
 * @returns {CodeBlock}
 */
function withPrelude({ code, line }, prelude) {
  const hidden = prelude.flatMap((text) => text.split('\n'))
  return { code: [...hidden, code].join('\n'), line: line - hidden.length }
}

/**
 * Empty lines keep the second block at its distance from the first.
 * @param {CodeBlock} before
 * @param {CodeBlock} block
 */
function joined(before, block) {
  const gap = block.line - before.line - before.code.split('\n').length
  return `${before.code}${'\n'.repeat(gap + 1)}${block.code}`
}
