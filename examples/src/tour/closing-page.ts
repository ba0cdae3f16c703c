import type { SpareLine } from '../terminal/fitting.ts'
import type { Colours } from '../terminal/screen.ts'

/** The examples that can be started, with the command and what it shows. */
export const EXAMPLES = [
  ['order', 'the two orders again, in one process that you may kill'],
  ['import', '135,233 cities loaded in parallel; a damaged edition is undone'],
  ['csv', 'a CSV file with bad rows: the good ones are loaded, or none'],
  ['media', 'photographs in four sizes, published or all removed again'],
  ['waiting', 'approvals and webhooks that take days: how to run it'],
  ['all', 'order, import, csv and media, one after the other'],
] as const

/** A menu of the examples. */
export function menuLines({ cyan }: Colours): readonly string[] {
  return EXAMPLES.map(([name, what]) => `  ${cyan(`npm start -- ${name.padEnd(7)}`)}  ${what}`)
}

/** Where to go on after the tour. */
export function closingLines(colours: Colours): readonly (string | SpareLine)[] {
  const { bold, cyan } = colours
  const place = (name: string, what: string) => `  ${cyan(name.padEnd(22))}${what}`
  return [
    bold('More examples'),
    ...menuLines(colours),
    `  ${cyan('npm start -- --sql    ')}  this tour, with the rows of the tables`,
    { spare: '' },
    bold('Where to go on'),
    place('README.md', 'quick start: a workflow, a worker, a run'),
    place('docs/patterns.md', 'the workflows that come up again and again'),
    place('docs/', 'one page a subject: sagas, waits, maps, operations'),
    place('examples/README.md', 'the code of what you have seen'),
  ]
}

/** How to run what waits for days. */
export const WAITING = [
  'An expense claim that waits for its approval, and an order that waits for its',
  'webhook. Each command is a process of its own, which you may kill:',
  '',
  '  node examples/dist/waiting/desk.js work --folder .belay/waiting',
  '',
  'works until you end it. Start a claim, approve it and look at it meanwhile or',
  'afterwards, on DATABASE_URL from another terminal:',
  '',
  '  node examples/dist/waiting/desk.js claim c1 --folder .belay/waiting',
  '  node examples/dist/waiting/desk.js approve c1 grace --folder .belay/waiting',
  '  node examples/dist/waiting/desk.js show --folder .belay/waiting',
  '',
  'All its commands: node examples/dist/waiting/desk.js',
]
