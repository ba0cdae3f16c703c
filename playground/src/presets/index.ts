import approval from './approval.ts?raw'
import branch from './branch.ts?raw'
import crash from './crash.ts?raw'
import limit from './limit.ts?raw'
import map from './map.ts?raw'
import parked from './parked.ts?raw'
import poll from './poll.ts?raw'
import schedule from './schedule.ts?raw'
import undo from './undo.ts?raw'
import versions from './versions.ts?raw'

export interface Preset {
  readonly name: string
  readonly title: string
  /** One sentence that says what to try. */
  readonly try: string
  readonly code: string
  /** Its code closes the card service, and the reader opens it again. */
  readonly closesCard?: boolean
}

export const PRESETS: readonly [Preset, ...Preset[]] = [
  {
    name: 'crash',
    title: 'Crash in a step',
    try: 'Start a run, and crash the worker that charges the card: another one takes over when its lease of 3 s has ended, and the card is charged once.',
    code: crash,
  },
  {
    name: 'undo',
    title: 'A step fails, and is undone',
    try: 'Start a run: every other one finds no courier, and what was done is undone in reverse order. Crash the worker that undoes it.',
    code: undo,
  },
  {
    name: 'parked',
    title: 'An undo fails, and is repaired',
    try: 'Start a run: its refund fails because the card service is closed, and the undo waits for you. Open the card service, then retry the refund.',
    code: parked,
    closesCard: true,
  },
  {
    name: 'approval',
    title: 'A person decides',
    try: 'Start a run, crash all workers while it waits, add one, and approve: the card is charged. Or reject: the stock is put back.',
    code: approval,
  },
  {
    name: 'map',
    title: 'Forty items, one of them bad',
    try: 'Start a run, and crash a worker: only the boxes that it held are tried again. One box is broken, and only 39 are charged.',
    code: map,
  },
  {
    name: 'poll',
    title: 'A loop asks until it is there',
    try: 'Start a run, and crash workers while the loop asks the courier: it goes on at the round where it was, and does not begin anew.',
    code: poll,
  },
  {
    name: 'branch',
    title: 'Two ways',
    try: 'Start some runs: large orders take the truck, small ones the post. The way not taken is skipped.',
    code: branch,
  },
  {
    name: 'versions',
    title: 'Two versions side by side',
    try: 'Start some runs: odd ones begin under version 1, even ones under version 2, and the same workers execute both.',
    code: versions,
  },
  {
    name: 'limit',
    title: 'Two at a time for each customer',
    try: 'Start 20: three of four are from bob, who has two under way at a time. Ann does not wait behind him.',
    code: limit,
  },
  {
    name: 'schedule',
    title: 'A run each five seconds',
    try: 'Wait: each five seconds a run begins. Crash a worker, and still each time has exactly one run.',
    code: schedule,
  },
]
