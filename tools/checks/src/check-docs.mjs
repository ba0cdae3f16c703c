import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readPage } from './docs/code-blocks.mjs'
import { compileBlocks } from './docs/compile-blocks.mjs'
import { errorPage } from './docs/error-page.mjs'

const root = fileURLToPath(new URL('../../..', import.meta.url))

/** Every page that is or will be committed: git knows which Markdown files are ours. */
function pages() {
  const list = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'], {
    cwd: root,
  })
  return list
    .toString()
    .split('\n')
    .filter((path) => path !== '' && existsSync(join(root, path)))
}

/** The page of the error codes is generated, so that each code has its line. */
function checkErrorPage() {
  const file = join(root, 'docs/errors.md')
  const { page, problems } = errorPage(
    readFileSync(join(root, 'packages/workflow/src/error-codes.ts'), 'utf8'),
  )
  if (process.argv.includes('--write')) writeFileSync(file, page)
  if (existsSync(file) && readFileSync(file, 'utf8') === page) return problems
  return [
    ...problems,
    'docs/errors.md is not what error-codes.ts says. Write it anew: npm run docs -- --write',
  ]
}

const ofErrors = checkErrorPage()
const found = pages().map((page) => ({ page, ...readPage(readFileSync(join(root, page), 'utf8')) }))
const blocks = found.flatMap(({ page, blocks }) => blocks.map((block) => ({ page, ...block })))
const problems = [
  ...ofErrors,
  ...found.flatMap(({ page, problems }) => problems.map((problem) => `${page}:${problem}`)),
  ...(blocks.length === 0 ? [] : await compileBlocks(blocks)),
]

for (const { page, ignored } of found) {
  for (const { line, reason } of ignored) console.log(`not compiled: ${page}:${line} (${reason})`)
}
for (const problem of problems) console.error(problem)
if (problems.length > 0) process.exitCode = 1
else console.log(`${blocks.length} TypeScript blocks on ${found.length} pages compile.`)
