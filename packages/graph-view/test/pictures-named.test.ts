import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../..', import.meta.url))

/** What git has, or will have. */
const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: root })
  .toString()
  .split('\n')
  .filter((path) => existsSync(join(root, path)))

/** The pictures that the pages show, as paths of the repository. */
const shown = files
  .filter((path) => path.endsWith('.md'))
  .flatMap((page) =>
    [...readFileSync(join(root, page), 'utf8').matchAll(/!\[[^\]]*\]\(([^)\s]+)\)|\bsrc(?:set)?="([^"]+)"/g)]
      .map(([, inMarkdown, inHtml]) => inMarkdown ?? inHtml ?? '')
      .filter((target) => !target.includes(':'))
      .map((target) => join(dirname(page), target)),
  )

it('each picture that a page shows is there', () => {
  expect(shown.length).toBeGreaterThan(0)
  expect(shown.filter((path) => !files.includes(path))).toEqual([])
})

const pictures = files.filter((path) => path.startsWith('docs/images/'))

it('each picture of the docs is shown on a page', () => {
  expect(pictures.filter((path) => !shown.includes(path))).toEqual([])
})

it('no picture keeps a reader waiting: at most 120 kB each', () => {
  expect(pictures.filter((path) => statSync(join(root, path)).size > 120_000)).toEqual([])
})
