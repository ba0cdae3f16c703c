import type { Row } from './verdict.ts'
import { hostileWorkflow, type World } from './world.ts'

const OPTIONS = [
  'cron',
  'timeZone',
  'every',
  'workflow',
  'version',
  'timeAs',
  'tags',
  'overlap',
  'catchUp',
  'jitter',
  'until',
]
const NAME = 'hostile'
const daily = () => ({ cron: '0 3 * * *', workflow: hostileWorkflow })

/** The calls of `engine.schedules`. Each that needs a schedule puts it first. */
export const SCHEDULE_ROWS: readonly Row<World>[] = [
  {
    name: 'schedules.put',
    call: ({ engine }, ...args) =>
      engine.schedules.put(...(args as unknown as Parameters<typeof engine.schedules.put>)),
    args: () => [NAME, daily(), {}],
    options: { 1: [...OPTIONS, 'input'], 2: ['tx'] },
    where: ['schedules.put()', 'Input of', 'There is no', 'The tx given to'],
  },
  {
    name: 'schedules.putMany',
    call: ({ engine }, ...args) =>
      engine.schedules.putMany(...(args as unknown as Parameters<typeof engine.schedules.putMany>)),
    args: () => [[{ name: NAME, ...daily() }], {}],
    options: { 1: ['tx'] },
    where: ['schedules.putMany()', 'Input of', 'There is no', 'The tx given to'],
  },
  ...(['pause', 'resume', 'delete', 'trigger'] as const).map(
    (verb): Row<World> => ({
      name: `schedules.${verb}`,
      call: async ({ engine }, ...args) => {
        await engine.schedules.put(NAME, daily())
        return engine.schedules[verb](...(args as unknown as [string, object]))
      },
      args: () => [NAME, {}],
      options: {
        1: verb === 'pause' ? ['reason', 'tx'] : verb === 'trigger' ? ['overlap', 'tx'] : ['tx'],
      },
      where: [`schedules.${verb}()`, 'The tx given to'],
    }),
  ),
  {
    name: 'schedules.backfill',
    call: async ({ engine }, ...args) => {
      await engine.schedules.put(NAME, daily())
      return engine.schedules.backfill(...(args as unknown as Parameters<typeof engine.schedules.backfill>))
    },
    args: () => [NAME, { from: '2024-06-01T00:00:00Z', to: '2024-06-02T00:00:00Z', dryRun: true }],
    options: { 1: ['from', 'to', 'dryRun'] },
    where: ['schedules.backfill()'],
  },
  {
    name: 'schedules.preview',
    call: async ({ engine }, ...args) => {
      await engine.schedules.put(NAME, daily())
      return engine.schedules.preview(...(args as unknown as Parameters<typeof engine.schedules.preview>))
    },
    args: () => [NAME, {}],
    options: { 1: ['count'] },
    where: ['schedules.preview()'],
  },
  ...(['get', 'explain'] as const).map(
    (verb): Row<World> => ({
      name: `schedules.${verb}`,
      call: async ({ engine }, name) => {
        await engine.schedules.put(NAME, daily())
        return engine.schedules[verb](name as unknown as string)
      },
      args: () => [NAME],
      where: [`schedules.${verb}()`],
    }),
  ),
  {
    name: 'schedules.list',
    call: ({ engine }, filter) => engine.schedules.list(filter),
    args: () => [{}],
    options: { 0: ['workflow', 'paused', 'declared', 'after', 'limit'] },
    where: ['schedules.list()'],
  },
  {
    name: 'schedules.history',
    call: ({ engine }, ...args) =>
      engine.schedules.history(...(args as unknown as Parameters<typeof engine.schedules.history>)),
    args: () => [NAME, {}],
    options: { 1: ['before', 'limit'] },
    where: ['schedules.history()'],
  },
]
