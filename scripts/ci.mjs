import './require-node.mjs'
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { countTests } from './count-tests.mjs'
import { at, root } from './root.mjs'
import { run } from './run.mjs'

/**
 * @typedef {object} Stage
 * @property {string} name
 * @property {string} command the same one that a developer types
 * @property {readonly [day: number, of: number]} [onDay] what nearly always passes and takes long runs only when the sample leaves this remainder
 */

const REPORT = '.belay/ci/tests.json'
const DAY_MS = 86_400_000

const given = process.env['SAMPLE']
/** The stages of every day, each in its short form. */
const isAll = given === 'all'
/** Draws worlds, kill points and orders, and the stages of the day. The same number draws the same again. */
const sample = isAll || given === undefined ? Math.floor(Date.now() / DAY_MS) : Number(given)
if (!Number.isSafeInteger(sample) || sample < 0) {
  console.error(`SAMPLE must be a whole number of 0 or more, or all; got "${given}".`)
  process.exit(2)
}

/** It sets the folder up; those after it do not. */
const FIRST = 'tests'

/**
 * The stages in order. Those of a pair of lists run side by side: the first one mostly waits, or has a clock of its own.
 * @type {readonly (Stage | readonly [readonly Stage[], readonly Stage[]])[]}
 */
const STAGES = [
  { name: FIRST, command: `npm test -- --reporter=default --reporter=json --outputFile.json=${REPORT}` },
  [
    [
      { name: 'kills', command: 'npm run -s proofs -- kills' },
      { name: 'orders', command: `npm run -s proofs -- orders --shard=${1 + (sample % 4)}/4` },
      { name: 'oldest', command: `npm run -s oldest -- --shard=${1 + (sample % 4)}/4`, onDay: [1, 2] },
      { name: 'servers', command: 'npm run -s proofs -- servers', onDay: [1, 2] },
      { name: 'parity', command: 'npm run -s parity -- --listed' },
    ],
    [
      { name: 'types', command: 'npm run -s types' },
      { name: 'lint', command: 'npm run -s lint' },
      { name: 'unused', command: 'npm run -s unused' },
      { name: 'imports', command: 'npm run -s imports' },
      { name: 'packages', command: 'npm run -s packages' },
      { name: 'docs', command: 'npm run -s docs' },
      { name: 'packed', command: 'npm run -s packed', onDay: [0, 2] },
      { name: 'site', command: 'npm run -s site:build', onDay: [0, 2] },
      { name: 'runtimes', command: 'npm run -s runtimes -- --quick', onDay: [2, 3] },
      { name: 'next', command: 'npm run -s next', onDay: [1, 3] },
    ],
  ],
  { name: 'proofs', command: 'npm run -s proofs -- worlds hostile plans', onDay: [0, 2] },
  { name: 'faults', command: 'npm run -s proofs -- races faults commands scrapes', onDay: [1, 2] },
  { name: 'journeys', command: 'npm run -s proofs -- journeys' },
  { name: 'dashboard', command: 'npm run -s proofs -- dashboard', onDay: [0, 4] },
  { name: 'playground', command: 'npm run -s proofs -- playground', onDay: [1, 4] },
  { name: 'presets', command: 'npm run -s proofs -- presets hour', onDay: [2, 4] },
  { name: 'pages', command: 'npm run -s proofs -- pages', onDay: [3, 4] },
  { name: 'machine', command: 'npm run -s proofs -- machine', onDay: [0, 3] },
  { name: 'libraries', command: 'npm run -s proofs -- libraries examples', onDay: [1, 2] },
  { name: 'stores', command: 'npm run -s proofs -- pglite random compilers', onDay: [0, 2] },
  [
    [{ name: 'worlds', command: `npm run -s sim -- --from ${sample * 1_000} --seeds 200` }],
    [
      {
        name: 'worlds-postgres',
        command: `npm run -s sim -- --from ${sample * 1_000} --seeds 10 --store postgres`,
      },
      {
        name: 'worlds-pglite',
        command: `npm run -s sim -- --from ${sample * 1_000} --seeds 5 --store pglite`,
      },
    ],
  ],
  { name: 'chaos', command: `npm run -s chaos -- --quick --seed ${sample}` },
  { name: 'failover', command: 'npm run -s failover -- --quick', onDay: [0, 2] },
  { name: 'benchmark', command: 'npm run -s bench -- --quick', onDay: [0, 2] },
]

/** @type {{ readonly name: string, readonly seconds: number }[]} */
const took = []
const began = performance.now()
const aborted = new AbortController()

mkdirSync(at(dirname(REPORT)), { recursive: true })
rmSync(at(REPORT), { force: true })
console.log(
  `Sample ${sample}${isAll ? ', and the stages of every day' : ''}. SAMPLE=${sample} .ci/run draws the same worlds, kill points, orders and stages of the day.`,
)
process.exitCode = await runAll()
tell()

/** @returns {Promise<number>} the exit code of the first stage that fails, or 0 */
async function runAll() {
  for (const part of STAGES) {
    const lanes = 'name' in part ? [[part]] : part
    const codes = await Promise.all(lanes.map((lane, index) => runLane(lane, { isApart: index > 0 })))
    const code = codes.find((each) => each !== 0)
    if (code !== undefined) return code
  }
  return 0
}

/**
 * @param {readonly Stage[]} lane
 * @param {{ readonly isApart: boolean }} options whether its output is held back until each stage ends, because another lane prints meanwhile
 */
async function runLane(lane, { isApart }) {
  for (const stage of lane) {
    if (aborted.signal.aborted) return 0
    const code = await runStage(stage, isApart)
    if (code !== 0) return code
  }
  return 0
}

/**
 * @param {Stage} stage
 * @param {boolean} isApart
 */
async function runStage({ name, command, onDay: [day, of] = [0, 1] }, isApart) {
  if (sample % of !== day && !isAll) {
    console.log(`\n=== ${name}: not today, it runs on one day of ${of}: ${command}`)
    return 0
  }
  /** @type {string[]} */
  const held = []
  const begin = `\n=== ${name}: ${command}`
  if (!isApart) console.log(begin)
  const startedAt = performance.now()
  const [program = '', ...args] = command.split(' ')
  const code = await run(program, args, {
    cwd: root,
    env: { ...process.env, SAMPLE: `${sample}`, ...(name === FIRST ? {} : { BELAY_SET_UP: root }) },
    ...(isApart ? { onLine: (/** @type {string} */ line) => held.push(line) } : {}),
    signal: aborted.signal,
  }).catch(() => 1)
  const seconds = Math.round((performance.now() - startedAt) / 1_000)
  took.push({ name, seconds })
  if (isApart) console.log([begin, ...held].join('\n'))
  if (code === 0) console.log(`--- ${name} ok, ${seconds} s`)
  else if (!aborted.signal.aborted) {
    aborted.abort()
    console.log(
      `\n*** CI failed in the stage "${name}" (exit code ${code}, ${seconds} s). Run it alone with: SAMPLE=${sample} ${command}`,
    )
  }
  return code
}

/** How long each stage took, the longest first; and last the line that counts the tests. */
function tell() {
  const total = Math.round((performance.now() - began) / 1_000)
  const rows = took.toSorted((one, other) => other.seconds - one.seconds)
  console.log(`\n=== ${process.exitCode === 0 ? 'all stages ok' : 'failed'}, ${total} s; seconds by stage:`)
  for (const { name, seconds } of rows) console.log(`${String(seconds).padStart(6)}  ${name}`)
  if (existsSync(at(REPORT))) console.log(countTests(JSON.parse(readFileSync(at(REPORT), 'utf8'))))
}
