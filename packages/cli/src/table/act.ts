import { FILTERS, type FlagName } from './flags.ts'
import { RUN } from './see.ts'
import type { Arg, Verb } from './verb.ts'

const STEP: Arg = { name: 'step', about: 'the name of a step of the run', completes: 'steps' }
/** With filters no run is typed. */
const RUNS: Arg = {
  ...RUN,
  optional: true,
  about: `${RUN.about}; - for ids on stdin; none with filters`,
}
const STEP_OF_MANY: Arg = { ...STEP, optional: true }

const MANY = [...FILTERS, 'limit', 'dry-run', 'yes', 'expect'] as const satisfies readonly FlagName[]
/** What ended long ago is seldom retried with what ended lately. */
const ENDED = {
  since: ['since', 'ended since: an age like 2h, or an instant'],
  until: ['until', 'ended before: an age like 2h, or an instant'],
} as const
const DRY_MOVE = ['dry-run', 'says what would be moved; it stores the definition, and moves nothing'] as const
const WHO = ['by', 'reason'] as const satisfies readonly FlagName[]

/** How verbs act on many runs, for help. */
const OF_MANY =
  'Filters, or ids on stdin, make it many runs: it shows a dry run, asks for their number, and then changes exactly these. Scripts give --yes.'

export const ACT: readonly Verb[] = [
  {
    name: 'run',
    group: 'act',
    summary: 'start a run of a workflow',
    about:
      'Starts a run of a workflow that the store knows, and answers its id. With the definition in a config the input is checked; without, it is stored as it is.',
    args: [{ name: 'workflow', about: 'the name of the workflow', completes: 'workflows' }],
    flags: [
      'input',
      ['key', 'the business event it belongs to: a second start with it answers the first run'],
      ['tag', 'a label to find it by'],
      'priority',
      'delay',
    ],
    examples: [
      { command: `run fulfil-order --input '{"amount":120}' --key order:9191`, about: 'starts it once' },
      { command: 'run fulfil-order --delay 2h --tag tenant:7', about: 'begins in two hours' },
    ],
    access: 'write',
  },
  {
    name: 'signal',
    group: 'act',
    summary: 'what a step waits for',
    about:
      'Sends a signal to a step that waits for one, now or later. The definition in a config checks the payload; without it nothing is sent, unless you give --unchecked.',
    args: [RUN, STEP],
    flags: ['data', ['key', 'of the event behind it: the same key counts once'], 'unchecked'],
    examples: [
      {
        command: `signal order:9182 shipped --data '{"at":9}' --key wh-1 --unchecked`,
        about: 'the webhook wh-1, once',
      },
    ],
    access: 'write',
  },
  {
    name: 'approve',
    group: 'act',
    summary: 'let it go on',
    about:
      'Approves what a step asks people for, and its run goes on. It is refused if the step was rejected before. To approve again changes nothing.',
    args: [RUN, STEP],
    flags: ['by', 'comment', ['data', 'the payload of the approval'], 'unchecked'],
    examples: [
      { command: `approve order:9183 approveOrder --comment 'known customer'`, about: 'with a comment' },
    ],
    access: 'write',
  },
  {
    name: 'reject',
    group: 'act',
    summary: 'fail it, and undo the run',
    about:
      'Rejects what a step asks people for: the step fails without retries, and its run is undone. It is refused if the step was approved before.',
    args: [RUN, STEP],
    flags: ['by', 'comment'],
    examples: [{ command: `reject order:9183 approveOrder --comment 'fraud'`, about: 'with a comment' }],
    access: 'write',
  },
  {
    name: 'pause',
    group: 'act',
    summary: 'begin nothing more',
    about: `Begins no step of a run until it is resumed. What runs may end; timers and deadlines go on. ${OF_MANY}`,
    args: [RUNS],
    flags: [...WHO, ...MANY],
    examples: [
      { command: 'pause order:9182', about: 'one run' },
      { command: 'pause --workflow fulfil-order --dry-run', about: 'which runs it would pause' },
    ],
    access: 'write',
  },
  {
    name: 'resume',
    group: 'act',
    summary: 'go on after a pause',
    about: `Goes on with a paused run, and with all that became due meanwhile. ${OF_MANY}`,
    args: [RUNS],
    flags: [...WHO, ...MANY],
    examples: [
      { command: 'resume order:9182', about: 'one run' },
      { command: 'resume --workflow fulfil-order --yes', about: 'all paused runs of a workflow' },
    ],
    access: 'write',
  },
  {
    name: 'cancel',
    group: 'act',
    summary: 'stop, and undo what was done',
    about: `Stops a run and undoes it, last step first. A run that has ended stays as it is. ${OF_MANY}`,
    args: [RUNS],
    flags: [...WHO, 'compensate', ...MANY],
    examples: [
      { command: `cancel order:9182 --reason 'the customer called'`, about: 'stops it and undoes it' },
      { command: 'cancel --tag tenant:7 --dry-run', about: 'which runs it would cancel' },
    ],
    access: 'write',
  },
  {
    name: 'retry',
    group: 'act',
    summary: 'once more, a run or a step',
    about: `Makes a run that failed, was undone or cancelled go forward again. With a step: the step tries again now. A child is retried through its parent, which is named. ${OF_MANY}`,
    args: [
      RUNS,
      { ...STEP_OF_MANY, many: true, about: 'the name of a step of the run; or more runs, by their ids' },
    ],
    flags: [...WHO, ...MANY.map((name) => (name === 'since' || name === 'until' ? ENDED[name] : name))],
    examples: [
      { command: `retry order:9184 --reason 'couriers are back'`, about: 'one run' },
      {
        command: 'retry --workflow fulfil-order --since 2h --dry-run',
        about: 'what ended lately, and why not',
      },
    ],
    access: 'write',
  },
  {
    name: 'skip',
    group: 'act',
    summary: 'go on without a step',
    about:
      'Skips a step that is ready, waits, or failed the run. What depends on it runs with the output that you give in its place.',
    args: [RUN, STEP],
    flags: [...WHO, 'output'],
    examples: [
      {
        command: `skip order:9182 shipped --output '{"at":9}' --reason 'they phoned'`,
        about: 'with an output that stands in',
      },
    ],
    access: 'write',
  },
  {
    name: 'priority',
    group: 'act',
    summary: 'its place in line',
    about: `Gives a run another priority, from 0 to 1,000; more is sooner. ${OF_MANY}`,
    args: [RUNS, { name: 'n', about: 'the priority, 0 to 1,000', optional: true }],
    flags: [...WHO, ...MANY],
    examples: [{ command: 'priority order:9182 10', about: 'before those with less' }],
    access: 'write',
  },
  {
    name: 'move',
    group: 'act',
    summary: 'to another version',
    about: `Moves a run to another version of its workflow, whose definition the config must have. It is refused while a step runs, or if what has begun does not fit. ${OF_MANY}`,
    args: [RUNS],
    flags: [
      'to',
      ...WHO,
      // The engine stores the definition before it decides.
      ...MANY.map((name) => (name === 'dry-run' ? DRY_MOVE : name)),
    ],
    examples: [{ command: 'move order:9182 --to 4 --dry-run', about: 'whether it can be moved' }],
    access: 'write',
  },
  {
    name: 'undo retry',
    group: 'undo',
    summary: 'compensate again',
    about: `Calls the compensation of a step again that failed for good, or waits for its next try. Of many runs without a step: every undo that is parked. ${OF_MANY}`,
    args: [RUNS, STEP_OF_MANY],
    flags: [...WHO, ...MANY],
    examples: [
      {
        command: `undo retry order:9185 chargeCard --reason 'refunds are open again'`,
        about: 'the undo goes on from there',
      },
      {
        command: 'undo retry --workflow fulfil-order --dry-run',
        about: 'how many parked undos it would retry',
      },
    ],
    access: 'write',
  },
  {
    name: 'undo skip',
    group: 'undo',
    summary: 'done by hand',
    about: `Marks a step as undone, because somebody undid it by hand or accepts its effect. Of many runs without a step: every undo that is parked. ${OF_MANY}`,
    args: [RUNS, STEP_OF_MANY],
    flags: [...WHO, ...MANY],
    examples: [
      {
        command: `undo skip order:9185 chargeCard --reason 'refunded by hand, re_77'`,
        about: 'the undo goes on with what comes next',
      },
    ],
    access: 'write',
  },
  {
    name: 'undo give-up',
    group: 'undo',
    summary: 'a handler that hangs',
    about:
      'Stops waiting for a handler that neither ends nor reacts to its signal, in a run that is stopped or undone. What it did is unknown, and the report of the undo says so.',
    args: [RUN, STEP],
    flags: [...WHO],
    examples: [
      {
        command: `undo give-up order:9190 packItem --reason 'its host is gone'`,
        about: 'the run is parked or undone without it',
      },
    ],
    access: 'write',
  },
]
