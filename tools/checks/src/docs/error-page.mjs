/**
 * What a comment in the source says of one code.
 * @typedef {{ code: string, group: string, meaning: string, from: string, remedy: string }} ErrorCode
 */

const HEAD = `# Errors

Every error that Belay throws is a \`BelayError\` with a stable \`code\`. Match on the code: messages may change. \`runId\`, \`step\` and \`attempt\` say where it happened, and \`cause\` holds the error below it. Where Belay knows what to do next, \`remedy\` says it, and the message ends with it; \`what\` is the message without it.
A failed attempt has a code too, in \`run.status()\`, in the events and in the column \`error\` of \`belay.workflow_step_overview\`. An error of your own code keeps its own \`code\`, if it has one.

\`\`\`ts
import { BelayError } from '@belay/workflow'

export function statusOf(error: unknown): number {
  if (!BelayError.is(error)) return 500 // also recognises errors of a second copy of the package
  if (error.code === 'invalid_input') return 400
  if (error.code === 'unknown_run') return 404
  if (error.code === 'key_conflict' || error.code === 'action_refused') return 409
  return error.code === 'store_unavailable' ? 503 : 500
}
\`\`\`

The step's \`retry\` decides about a failed attempt, unless *not retried* or *without retries* is said below. This page is generated from the comments in \`packages/workflow/src/error-codes.ts\`. [Something is wrong](faq.md) begins with what you see instead.
`

/**
 * Writes docs/errors.md from the source of the error codes. A code without a meaning, an origin or a remedy is a problem.
 * @param {string} source
 * @returns {{ page: string, problems: readonly string[] }}
 */
export function errorPage(source) {
  const codes = readCodes(source)
  const problems = codes.flatMap(({ code, meaning, from, remedy }) =>
    meaning === '' || from === '' || remedy === ''
      ? [`error-codes.ts: the comment of "${code}" needs a meaning, "From:" and "Remedy:".`]
      : [],
  )
  const groups = [...new Set(codes.map(({ group }) => group))]
  const sections = groups.map((group) =>
    section(
      group,
      codes.filter((each) => each.group === group),
    ),
  )
  return { page: [HEAD, ...sections].join('\n'), problems }
}

/**
 * @param {string} source
 * @returns {readonly ErrorCode[]}
 */
export function readCodes(source) {
  let group = 'Errors'
  /** @type {ErrorCode[]} */
  const codes = []
  for (const [, heading, comment, code] of source.matchAll(
    /^ {2}\/\/ (.+)$|(?:^ {2}\/\*\*([\s\S]*?)\*\/\s*)?^ {2}\| '(\w+)'/gm,
  )) {
    if (heading !== undefined) group = heading
    else if (code !== undefined) codes.push({ code, group, ...readComment(comment ?? '') })
  }
  return codes
}

/** @param {string} comment */
function readComment(comment) {
  const text = comment
    .replaceAll(/(?:\s*\n\s*\*?)+\s*/g, ' ')
    .replaceAll(/\{@link (\w+)\}/g, '`$1`')
    .trim()
  const parts = /^(?<meaning>.*) From: (?<from>.*) Remedy: (?<remedy>.*)$/.exec(text)?.groups
  return {
    meaning: parts?.['meaning']?.trim() ?? '',
    from: parts?.['from']?.trim() ?? '',
    remedy: parts?.['remedy']?.trim() ?? '',
  }
}

/**
 * @param {string} group
 * @param {readonly ErrorCode[]} codes
 */
function section(group, codes) {
  const rows = codes.map(({ code, meaning, from, remedy }) =>
    [`<a id="${code}"></a>\`${code}\``, meaning, from, remedy]
      .map((cell) => cell.replaceAll('|', '\\|'))
      .join(' | '),
  )
  return [
    `## ${group}\n`,
    '| code | what happened | comes from | what to do |',
    '|---|---|---|---|',
    ...rows.map((row) => `| ${row} |`),
    '',
  ].join('\n')
}
