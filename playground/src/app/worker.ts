import type { Engine } from '@belay/workflow'
import { open, orTell, tell } from '../engine/open.ts'
import { type AppCall, type Opening, problemOf, type ToApp } from '../messages.ts'
import type { Play } from '../play.ts'
import { act } from './act.ts'
import { look } from './look.ts'

interface App {
  readonly engine: Engine
  readonly play: Play
}

let app: App | undefined

addEventListener('message', ({ data }: MessageEvent<ToApp>) => {
  if (data.type === 'open') orTell(begin(data))
  else void answer(data.id, data.call)
})

async function begin(opening: Opening): Promise<void> {
  const { play, makeEngine } = await open(opening)
  app = { engine: makeEngine(), play }
  await forgetSchedules(app)
  tell({ type: 'opened' })
}

/** Those of code that plays no more would go on: any worker fires any schedule. */
async function forgetSchedules({ engine, play: { schedules = [] } }: App): Promise<void> {
  for (const { name } of await engine.schedules.list())
    if (!schedules.some((declared) => declared.name === name)) await engine.schedules.delete(name)
}

async function answer(id: number, call: AppCall): Promise<void> {
  try {
    tell({ type: 'answer', id, value: await called(app!, call) })
  } catch (error) {
    tell({ type: 'answer', id, problem: problemOf(error) })
  }
}

async function called({ engine, play }: App, call: AppCall): Promise<unknown> {
  switch (call.do) {
    case 'start': {
      // What is started at the same moment shares a commit.
      const runs = Array.from({ length: call.count }, (_, n) => play.start(engine, call.first + n))
      return (await Promise.all(runs)).map(({ id }) => id)
    }
    case 'runs': {
      const runs = await engine.runs.list({ limit: call.limit })
      return runs.map(({ id, key, workflow, version, status }) => ({ id, key, workflow, version, status }))
    }
    case 'look':
      return look(engine, call.id)
    case 'act':
      return act(engine, call)
    case 'forgotten': {
      const { findings } = await engine.doctor()
      return findings.filter(({ type }) => type === 'version_without_worker').map(({ message }) => message)
    }
  }
}
