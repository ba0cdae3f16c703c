import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import { findViolations } from '../src/imports/find-violations.mjs'
import { RULES } from '../src/imports/import-rules.mjs'

const CLEAN = {
  'packages/workflow/src/index.ts': "export * from './engine/index.ts'",
  'packages/workflow/src/errors.ts': 'export class BelayError extends Error {}',
  'packages/workflow/src/adapter/index.ts': "export { BelayError } from '../errors.ts'",
  'packages/workflow/src/graph/index.ts':
    "import type { Step } from '../adapter/index.ts'\nexport type Graph = Step[]",
  'packages/workflow/src/definition/index.ts': "export type { Graph } from '../graph/index.ts'",
  'packages/workflow/src/engine/index.ts':
    "import pLimit from 'p-limit'\nimport '../definition/index.ts'\nexport { pLimit }",
  'packages/workflow-postgres/src/index.ts':
    "import { Pool } from 'pg'\nimport { BelayError } from '@belay/workflow/adapter'",
  'bench/src/a.ts': "import './b.ts'",
  'playground/src/a.ts': "import './b.ts'",
  'packages/cli/src/a.ts': "import './b.ts'",
  'packages/opentelemetry/src/index.ts':
    "import { trace } from '@opentelemetry/api'\nimport type { Engine } from '@belay/workflow'",
  'packages/graph-view/src/index.ts': "import './layout.ts'",
  'packages/graph-view/src/layout.ts': 'export const layout = 1',
  'packages/dashboard/src/index.ts': "import { Hono } from 'hono'",
  'tools/chaos/src/a.ts': "import './b.ts'",
  'tools/limits-soak/src/a.ts': "import './b.ts'",
  'tools/simulation/src/a.ts': "import './b.ts'",
  'packages/dashboard/ui/src/a.tsx': "import './b.tsx'",
  'bench/peers/src/a.ts': "import './b.ts'",
  'examples/src/a.ts': "import './b.ts'",
  'examples/frameworks/src/a.ts': "import './b.ts'",
  'tools/packed/consumer/src/a.ts': "import './b.ts'",
  'tools/postgres-server/src/a.ts': "import './b.ts'",
  'packages/testing/src/index.ts': "import { BelayError } from '@belay/workflow/adapter'",
  'packages/testing/src/simulation/index.ts': "import { createEngine } from '@belay/workflow'",
}

describe('the import check', () => {
  it('refuses a circle among files that stand beside the packages', () => {
    const { violations } = check({ 'bench/src/b.ts': "import type { A } from './a.ts'" })

    expect(violations).toEqual([
      'bench/src: the files a.ts → b.ts → a.ts go round in a circle (a.ts:1, b.ts:1)',
    ])
  })

  it('refuses a circle that is closed on demand', () => {
    const table = { 'packages/cli/src/b.ts': "export const load = () => import('./a.ts')" }

    expect(check(table).violations).toEqual([
      'packages/cli/src: the rooms a → b → a go round in a circle (a.ts:1, b.ts:1)',
    ])
  })

  it('accepts a tree whose imports all go one way', () => {
    const { violations, checkedImports } = check({})

    expect(violations).toEqual([])
    expect(checkedImports).toBe(26)
  })

  it('accepts this repository', () => {
    const root = fileURLToPath(new URL('../../..', import.meta.url))

    const { violations, checkedImports } = findViolations(root, RULES)

    expect(violations).toEqual([])
    expect(checkedImports).toBeGreaterThan(50)
  })

  it.each([
    ['graph', 'definition/index.ts', 'graph may import base, options, adapter, not definition'],
    ['graph', 'engine/index.ts', 'graph may import base, options, adapter, not engine'],
    ['definition', 'engine/index.ts', 'definition may import base, options, adapter, graph, not engine'],
    ['adapter', 'graph/index.ts', 'adapter may import base, options, not graph'],
    ['adapter', 'engine/index.ts', 'adapter may import base, options, not engine'],
    ['options', 'adapter/index.ts', 'options may import base, not adapter'],
  ])('refuses that %s imports %s', (room, target, sentence) => {
    const file = `packages/workflow/src/${room}/wrong.ts`

    const { violations } = check({ [file]: `// why\nimport { thing } from '../${target}'` })

    expect(violations).toContain(`${file}:2 imports "../${target}": ${sentence}`)
  })

  it.each([
    ['kinds/loop.ts', 'machine may import base, adapter, not machine/kinds'],
    ['spec-of-shape.ts', 'machine may import base, adapter, not machine/spec-of-shape'],
    ['../engine/index.ts', 'machine may import base, adapter, not engine'],
  ])('refuses that a rule of the run machine imports %s', (target, sentence) => {
    const file = 'packages/workflow/src/machine/rule.ts'

    const { violations } = check({ [file]: `import type { Thing } from './${target}'` })

    expect(violations).toContain(`${file}:1 imports "./${target}": ${sentence}`)
  })

  it('allows a kind to import the rules, and what reads a definition to name kinds', () => {
    const { violations } = check({
      'packages/workflow/src/machine/state.ts': 'export interface Kind {}',
      'packages/workflow/src/machine/kinds/loop.ts': "import type { Kind } from '../state.ts'",
      'packages/workflow/src/machine/spec-of-shape.ts': "import { loop } from './kinds/loop.ts'",
    })

    expect(violations).toEqual([])
  })

  it('refuses an import of a room by a file at the bottom of the core', () => {
    const { violations } = check({ 'packages/workflow/src/clock.ts': "import './adapter/index.ts'" })

    expect(violations).toContain(
      'packages/workflow/src/clock.ts:1 imports "./adapter/index.ts": base may import none of the others, not adapter',
    )
  })

  it.each([
    'node:fs',
    'fs',
    'fs/promises',
    'node:process',
    'pg',
    'pg/lib/client',
    'drizzle-orm',
    '@electric-sql/pglite',
    '@belay/testing',
  ])('refuses the import of %s by the core', (module) => {
    const file = 'packages/workflow/src/engine/io.ts'

    const { violations } = check({ [file]: `import * as io from '${module}'` })

    expect(violations).toHaveLength(1)
    expect(violations[0]).toContain(`${file}:1 imports "${module}"`)
  })

  it.each([
    ['a re-export', "export { x } from 'node:fs'"],
    ['an export of everything', "export * from 'node:fs'"],
    ['a type', "import type { Stats } from 'node:fs'"],
    ['an import() at run time', "const fs = await import('node:fs')"],
    ['an import() of a type', "type Stats = import('node:fs').Stats"],
    ['an import for its effect', "import 'node:fs'"],
    ['import = require()', "import fs = require('node:fs')"],
    ['a computed import', 'export const load = (name: string) => import(name)'],
  ])('sees %s', (_what, source) => {
    const { violations } = check({ 'packages/workflow/src/engine/io.ts': source })

    expect(violations).toHaveLength(1)
  })

  it('is not misled by imports in comments and strings', () => {
    const source = "// import 'node:fs'\nexport const text = `import 'node:fs'`\n/* import('pg') */"

    const { violations } = check({ 'packages/workflow/src/engine/io.ts': source })

    expect(violations).toEqual([])
  })

  it.each([
    ['workflow-postgres', "import { createEngine } from '@belay/workflow'"],
    ['workflow-postgres', "import { createEngine, type Engine } from '@belay/workflow'"],
    ['workflow-postgres', "import { memory } from '@belay/testing'"],
    ['workflow-postgres', "import { settle } from '@belay/workflow/dist/engine/settler.js'"],
    ['workflow-postgres', "import { settle } from '../../../workflow/src/engine/settler.ts'"],
    ['testing', "import { createEngine } from '@belay/workflow'"],
    ['testing', "import { postgres } from '@belay/workflow-postgres'"],
  ])('refuses in %s: %s', (name, source) => {
    const { violations } = check({ [`packages/${name}/src/rows/wrong.ts`]: source })

    expect(violations).toHaveLength(1)
    expect(violations[0]).toContain(`packages/${name}/src/rows/wrong.ts:1 imports`)
  })

  it('allows an adapter to import the engine’s types, which load nothing', () => {
    const { violations } = check({
      'packages/workflow-postgres/src/rows/fine.ts': "import { type Duration } from '@belay/workflow'",
    })

    expect(violations).toEqual([])
  })

  it('refuses two folders that import each other, and says where', () => {
    const { violations } = check({
      'packages/testing/src/memory/rows.ts': "import type { Check } from '../invariants/check.ts'",
      'packages/testing/src/invariants/check.ts': "import type { Rows } from '../memory/rows.ts'",
    })

    expect(violations).toHaveLength(1)
    expect(violations[0]).toMatch(/the rooms \w+ → \w+ → \w+ go round in a circle/)
    expect(violations[0]).toContain('memory/rows.ts:1')
    expect(violations[0]).toContain('invariants/check.ts:1')
  })

  it('refuses an import that points upwards between two rooms of the engine', () => {
    const file = 'packages/workflow/src/engine/decisions/decide.ts'

    const { violations } = check({ [file]: "import { Session } from '../worker/session.ts'" })

    expect(violations).toContain(
      `${file}:1 imports "../worker/session.ts": engine/decisions may import base, options, adapter, graph, definition, engine/base, not engine/worker`,
    )
  })

  it.each([
    ['packages/workflow/src/wallet/index.ts', 'packages/workflow'],
    ['packages/workflow/src/engine/wallet/index.ts', 'packages/workflow'],
    ['packages/workflow-postgres/src/wallet/index.ts', 'packages/workflow-postgres'],
  ])('refuses a folder that stands in no room: %s', (file) => {
    const { violations } = check({ [file]: 'export {}' })

    expect(violations).toEqual([`${file} stands in no room: name its folder in import-rules.mjs`])
  })

  it('refuses a folder of sources that no rule names', () => {
    const { violations } = check({ 'packages/wallet/src/index.ts': 'export {}' })

    expect(violations).toEqual(['packages/wallet/src has sources and no rule: add it to RULES'])
  })

  it.each(['values', 'ends', 'schedules'])('refuses that the SQL room %s imports the adapter', (room) => {
    const file = `packages/workflow-postgres/src/${room}/wrong.ts`

    const { violations } = check({ [file]: "import '../adapter.ts'" })

    expect(violations).toHaveLength(1)
    expect(violations[0]).toContain(`${file}:1 imports "../adapter.ts": ${room} may import base,`)
  })

  it('refuses two parts of the dashboard’s page that import each other', () => {
    const { violations } = check({ 'packages/dashboard/ui/src/b.tsx': "import type { A } from './a.tsx'" })

    expect(violations).toEqual([
      'packages/dashboard/ui/src: the files a.tsx → b.tsx → a.tsx go round in a circle (a.tsx:1, b.tsx:1)',
    ])
  })

  it('refuses two files of one room that import each other, and says where', () => {
    const { violations } = check({
      'packages/testing/src/memory/rows.ts': "import type { Lease } from './lease.ts'",
      'packages/testing/src/memory/lease.ts': "import type { Rows } from './rows.ts'",
    })

    expect(violations).toHaveLength(1)
    expect(violations[0]).toMatch(/the files .* go round in a circle/)
    expect(violations[0]).toContain('memory/lease.ts:1')
  })

  it('fails when a package has no sources, because it would check nothing', () => {
    expect(() => check({ 'packages/testing': null })).toThrow(/no TypeScript files/)
  })
})

const trees: string[] = []
afterEach(() => {
  for (const tree of trees.splice(0)) rmSync(tree, { recursive: true })
})

/** Checks the clean tree with these files added; null removes a file. */
function check(changes: Record<string, string | null>) {
  const root = mkdtempSync(join(tmpdir(), 'belay-imports-'))
  trees.push(root)
  for (const [path, text] of Object.entries({ ...CLEAN, ...changes })) {
    if (text === null) continue
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  for (const [path, text] of Object.entries(changes)) {
    if (text === null) rmSync(join(root, path), { recursive: true })
  }
  return findViolations(root, RULES)
}
