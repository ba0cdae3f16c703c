import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { memory, VirtualClock } from '@belay/testing'
import { createEngine, type Engine, type RunHandle, type Workflow } from '@belay/workflow'
import { vi } from 'vitest'
import { readPage } from '../../../tools/checks/src/docs/code-blocks.mjs'
import { viewRun } from '../../dashboard/src/view-run.ts'
import type { ViewRun } from '../src/index.ts'
import { T0 } from './runs.ts'

type AnyWorkflow = Workflow<string, unknown, Readonly<Record<string, unknown>>>

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** The definition that a page of the docs writes as `const <name> = define(…)`. What the page makes up around it is `world` instead. */
export async function definitionOn(
  page: string,
  name: string,
  world: Readonly<Record<string, unknown>> = {},
): Promise<AnyWorkflow> {
  for (const [thing, stub] of Object.entries(world)) vi.stubGlobal(thing, stub)
  const { blocks } = readPage(await readFile(at(`../../../docs/${page}`), 'utf8'))
  const code = blocks.map((block) => block.code).find((text) => text.includes(`const ${name} = define(`))
  if (code === undefined) throw new Error(`docs/${page} defines no "${name}".`)
  // What comes after the definitions starts runs of the page's own.
  const [definitions = ''] = code.split(/^const (?:adapter|engine) = |^declare const engine/m)
  const given = Object.keys(world).reduce(
    (text, thing) => text.replace(new RegExp(`^const ${thing} = \\{$[^]*?^\\}$`, 'm'), ''),
    definitions,
  )
  // Below this package, so that its imports are found.
  await mkdir(at('../.belay'), { recursive: true })
  const folder = await mkdtemp(at('../.belay/page-'))
  try {
    const file = join(folder, 'page.ts')
    await writeFile(file, `${given}\nexport { ${name} }\n`)
    return ((await import(file)) as Readonly<Record<string, AnyWorkflow>>)[name]!
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

export interface Play {
  readonly engine: Engine
  readonly clock: VirtualClock
  readonly run: RunHandle
  /** A run as the dashboard's server reads it. */
  view(id: string): Promise<ViewRun>
}

/**
 * Runs a definition on the memory adapter, from a fixed instant on: to its end, unless `until` says otherwise. Each handler takes 400 ms, unless `takesMs`
 * names another time below a second.
 */
export async function played(
  workflow: AnyWorkflow,
  input: unknown,
  {
    until = ended,
    takesMs = () => 400,
  }: { until?: (play: Play) => Promise<unknown>; takesMs?: (step: string) => number } = {},
): Promise<ViewRun> {
  // The jitter of retries.
  vi.spyOn(Math, 'random').mockReturnValue(0.5)
  const clock = new VirtualClock(T0)
  const engine = createEngine({
    adapter: memory({ clock }),
    workflows: [workflow],
    attempts: 'keep',
    logger: false,
    around: [
      async ({ step }, next) => {
        await new Promise<void>((resolve) => clock.after(takesMs(step), resolve))
        await next()
      },
    ],
  })
  await engine.start()
  const run = await engine.run(workflow, input)
  const view = async (id: string) => {
    const found = (await engine.runs.get(id))!
    const { steps } = await engine.workflows.get(found.workflow, found.version)
    return viewRun(found, steps, await engine.runs.attempts(id), await engine.runs.history(id))
  }
  await until({ engine, clock, run, view })
  const seen = await view(run.id)
  await engine.close({ timeout: 0 })
  return seen
}

/** Also of a run that is undone, whose result is an error. */
export const ended = ({ clock, run }: Pick<Play, 'clock' | 'run'>): Promise<unknown> =>
  clock.runUntil(run.result().catch(() => {}))
