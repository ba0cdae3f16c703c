import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const PAGES = [
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'docs/extending/add-a-step-kind.md',
  'docs/extending/add-a-verb.md',
  'docs/extending/write-an-adapter.md',
  ...readdirSync(join(root, 'docs/internals')).map((page) => `docs/internals/${page}`),
]

const FILES = git('ls-files', '--cached', '--others', '--exclude-standard')
const SCRIPTS = Object.keys(JSON.parse(textOf('package.json')).scripts)

it.each(PAGES)('%s names only files and commands that are there', (page) => {
  expect(wrongNames(textOf(page))).toEqual([])
})

it('a name that is wrong is noticed, and so is a command', () => {
  const page =
    'In `packages/workflow/src/graph/check.ts` and `graph/gone.ts`, of `conformance/nowhere`: `npm run tpyes`.'

  expect(wrongNames(page)).toEqual(['graph/gone.ts', 'conformance/nowhere', 'npm run tpyes'])
})

/** Files and folders by the end of their path, and commands of npm, that a page has in backticks or in links and nobody else knows. */
function wrongNames(page: string): readonly string[] {
  const text = page.replaceAll(/^```[\s\S]*?^```$/gm, '')
  const quoted = Array.from(text.matchAll(/`([^`\n]+)`/g), ([, code]) => code!)
  const names = quoted.filter((code) =>
    /^[\w.-]+(\/[\w.-]+)+$|^[\w-]+(\.[\w-]+)*\.(ts|mjs|json|md)$/.test(code),
  )
  const commands = quoted.flatMap((code) =>
    Array.from(code.matchAll(/npm run (?:-s )?[\w:]+/g), ([run]) => run),
  )
  return [
    ...names.filter((name) => !isThere(name)),
    ...commands.filter((run) => !SCRIPTS.includes(run.split(' ').at(-1)!)),
  ]
}

function isThere(name: string): boolean {
  return FILES.some((file) => `/${file}`.endsWith(`/${name}`) || `/${file}`.includes(`/${name}/`))
}

function textOf(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

function git(...args: readonly string[]): readonly string[] {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim().split('\n')
}
