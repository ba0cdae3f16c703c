import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import { checkLinks } from '../../../site/src/check-links.mjs'
import { githubSlug } from '../../../site/src/github-slug.mjs'
import { resolveLink } from '../../../site/src/page-links.mjs'
import { sidebar } from '../../../site/src/pages.mjs'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const folders: string[] = []

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
})

function built(pages: Record<string, string>) {
  const folder = mkdtempSync(join(tmpdir(), 'belay-site-'))
  folders.push(folder)
  for (const [path, html] of Object.entries(pages)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), html)
  }
  return folder
}

describe('the links of the built site', () => {
  it('may lead to pages, headings, files and other hosts', () => {
    const folder = built({
      'index.html':
        '<a href="/docs/maps#many-items">maps</a> <a href="https://example.com/x">x</a> <link href="/a.css">',
      'docs/maps.html': '<h2 id="many-items"></h2> <a href="./../">home</a> <a href="#many-items">here</a>',
    })

    expect(() => checkLinks(folder, '/')).not.toThrow()
  })

  it.each([
    ['/docs/loops', 'leads to no page'],
    ['/docs/maps#rounds', 'leads to no heading'],
    ['#rounds', 'leads to no heading'],
  ])('to %s are refused', (link, problem) => {
    const folder = built({ 'docs/maps.html': `<h2 id="many-items"></h2> <a href="${link}">dead</a>` })

    expect(() => checkLinks(folder, '/')).toThrow(`/docs/maps: ${link} ${problem}.`)
  })

  it('are looked up below the base', () => {
    const folder = built({ 'index.html': '<a href="/belay/docs/maps">maps</a>', 'docs/maps.html': '' })

    expect(() => checkLinks(folder, '/belay/')).not.toThrow()
    expect(() => checkLinks(folder, '/')).toThrow('leads to no page')
  })
})

describe('a link in a page', () => {
  it.each([
    ['docs/maps.md', '../README.md#steps', '../index.md#steps'],
    ['docs/maps.md', 'loops.md', './loops.md'],
    ['README.md', 'docs/maps.md#many', './docs/maps.md#many'],
    ['docs/maps.md', '#many', '#many'],
    ['docs/maps.md', 'https://example.com', 'https://example.com'],
    ['docs/maps.md', '../examples/src/quickstart.ts', undefined],
  ])('of %s to %s becomes %s', (page, target, expected) => {
    expect(resolveLink(root, page, target)).toBe(expected)
  })

  it('to a file that does not exist is refused', () => {
    expect(() => resolveLink(root, 'docs/maps.md', '../examples/src/none.ts')).toThrow('which does not exist')
  })
})

it.each([
  ['Heartbeats', 'heartbeats'],
  ["`onFailure: 'continue'`", 'onfailure-continue'],
  ['In a browser: server-sent events', 'in-a-browser-server-sent-events'],
  ['Ärger & Übermut', 'ärger--übermut'],
])('the heading "%s" has the id that GitHub gives it', (heading, id) => {
  expect(githubSlug(heading)).toBe(id)
})

it('every page of docs is in the sidebar once', () => {
  const links = sidebar().flatMap(({ items }) => items.map(({ link }) => link))

  expect(new Set(links).size).toBe(links.length)
  expect(links).toContain('/docs/maps')
  expect(links).toContain('/docs/extending/add-a-verb')
})
