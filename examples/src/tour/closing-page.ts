import type { SpareLine } from '../terminal/fitting.ts'
import type { Colours } from '../terminal/screen.ts'

/** The examples that can be started, with the command and what it shows. */
const EXAMPLES = [
  ['order', 'such orders, in one process'],
  ['import', '135,233 cities, and their removal'],
  ['csv', 'a CSV file with bad rows'],
  ['media', 'photographs in four sizes'],
  ['dashboard', 'a rollback, in a browser'],
  ['waiting', 'approvals that take days'],
  ['all', 'order, import, csv and media'],
] as const

/** A menu of the examples. */
function menuLines(colours: Colours): readonly string[] {
  return EXAMPLES.map(([name, what]) => menuLine(colours, `npm start -- ${name}`, what))
}

function menuLine({ cyan }: Colours, command: string, what: string): string {
  return `  ${cyan(command.padEnd(22))}  ${what}`
}

/** All that can be started here. */
export function listLines(colours: Colours): readonly string[] {
  return [
    menuLine(colours, 'npm start', 'the tour'),
    ...menuLines(colours),
    menuLine(colours, 'npm run playground', 'to crash a worker in a browser'),
  ]
}

/** Where to go on after the tour. */
export function closingLines(colours: Colours): readonly (string | SpareLine)[] {
  const { bold, cyan } = colours
  const line = (name: string, what: string) => `  ${cyan(name.padEnd(22))}  ${what}`
  return [
    bold('More examples'),
    ...menuLines(colours),
    line('npm start -- --sql', 'this tour, with the tables'),
    { spare: '' },
    bold('Where to go on'),
    line('README.md', 'quick start, guarantees, options'),
    line('docs/patterns.md', 'workflows that come up often'),
    line('docs/', 'sagas, waits, maps, operations'),
    line('examples/README.md', 'the code of what you have seen'),
  ]
}

/** How to run what waits for days. */
export const WAITING = [
  'An expense claim that waits for its approval, and an order that waits for its',
  'webhook. Each command is a process of its own, which you may kill. One process',
  'at a time can use the embedded database, so run one command after the other:',
  '',
  '  node examples/dist/waiting/desk.js claim c1 --folder .belay/waiting',
  '  node examples/dist/waiting/desk.js work --folder .belay/waiting',
  '  node examples/dist/waiting/desk.js approve c1 grace --folder .belay/waiting',
  '  node examples/dist/waiting/desk.js work --folder .belay/waiting',
  '  node examples/dist/waiting/desk.js show --folder .belay/waiting',
  '',
  'The worker works until you press Ctrl-C. With DATABASE_URL it may work while',
  'you give the other commands in another terminal. All commands and options:',
  '',
  '  node examples/dist/waiting/desk.js',
]
