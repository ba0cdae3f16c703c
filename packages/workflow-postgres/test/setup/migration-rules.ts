/** A migration's file, as the rules read it. */
interface MigrationFile {
  readonly tag: string
  readonly sql: string
}

const STOPS_OLDER_CODE = /^-- Stops older code: \S/
const OUTSIDE_A_TRANSACTION = /^-- Outside a transaction: \S/m

interface Rule {
  readonly breaks: (statement: string, file: ReadFile) => boolean
  /** What to do instead. */
  readonly remedy: string
}

/** What a rule must know of the statement's file. */
interface ReadFile {
  readonly createdTables: ReadonlySet<string>
  readonly isOutsideTransaction: boolean
}

const NAME = String.raw`(?:"?\w+"?\s*\.\s*)?"?(\w+)"?`
const CREATED_TABLE = new RegExp(`^create table (?:if not exists )?${NAME}`)
const INDEXED_TABLE = new RegExp(String.raw`^create (?:unique )?index .*?\bon (?:only )?${NAME}`)
const ALTERED_TABLE = new RegExp(`^alter table (?:if exists )?(?:only )?${NAME}`)

const isNew = (statement: string, pattern: RegExp, { createdTables }: ReadFile): boolean =>
  createdTables.has(pattern.exec(statement)?.[1] ?? '')

/** For statements that change an existing table: nobody uses a table that the same file creates. */
const ofOldTable =
  (pattern: RegExp) =>
  (statement: string, file: ReadFile): boolean =>
    ALTERED_TABLE.test(statement) && pattern.test(statement) && !isNew(statement, ALTERED_TABLE, file)

// What breaks code of the release before, or blocks it while whole tables are read or written.
const RULES: readonly Rule[] = [
  {
    breaks: ofOldTable(
      /\bdrop (?!constraint\b|default\b|not null\b|identity\b|expression\b)(?:column\b|(?:if exists )?"?\w+"?(?:[ ,]|$))/,
    ),
    remedy:
      'DROP COLUMN: older code still names the column. Drop it a release later, in a file that stops older code.',
  },
  {
    breaks: (statement) => /^alter .*\brename\b/.test(statement),
    remedy: 'RENAME: older code still uses the old name. Add the new one beside it.',
  },
  {
    breaks: (statement) => /^drop (?:table|view|function|schema|sequence)\b/.test(statement),
    remedy: 'DROP of what older code uses. Drop it a release later, in a file that stops older code.',
  },
  {
    breaks: ofOldTable(/\balter (?:column )?"?\w+"? set not null\b/),
    remedy: 'SET NOT NULL: older code writes no value, and all rows are read under a lock.',
  },
  {
    breaks: ofOldTable(/\balter (?:column )?"?\w+"? (?:set data )?type\b/),
    remedy: 'ALTER COLUMN … TYPE writes the table anew under a lock. Add a column beside it.',
  },
  {
    breaks: ofOldTable(/\badd column\b(?=[^,]*\bnot null\b)(?![^,]*\bdefault\b)/),
    remedy: 'ADD COLUMN … NOT NULL without a DEFAULT: older code writes no value.',
  },
  {
    breaks: (statement, file) =>
      ofOldTable(/\badd (?:constraint "?\w+"? )?(?:check|foreign key)\b/)(statement, file) &&
      !/\bnot valid\b/.test(statement),
    remedy: 'ADD CONSTRAINT without NOT VALID reads all rows under a lock. Validate it in a later migration.',
  },
  {
    breaks: (statement, file) =>
      ofOldTable(/\badd (?:constraint "?\w+"? )?(?:unique|primary key|exclude)\b/)(statement, file) &&
      !/\busing index\b/.test(statement),
    remedy:
      'ADD UNIQUE or PRIMARY KEY builds an index under a lock. Build it CONCURRENTLY, then USING INDEX.',
  },
  {
    breaks: (statement, { isOutsideTransaction }) =>
      /\bvalidate constraint\b/.test(statement) && !isOutsideTransaction,
    remedy:
      'VALIDATE CONSTRAINT reads all rows, and shares a transaction with what was locked before it. Put it in a file of its own, "-- Outside a transaction: <reason>".',
  },
  {
    breaks: (statement, file) =>
      /^create (?:unique )?index\b(?! concurrently)/.test(statement) &&
      !isNew(statement, INDEXED_TABLE, file),
    remedy: 'CREATE INDEX without CONCURRENTLY on a table that is there keeps all its writers waiting.',
  },
  {
    breaks: (statement, { isOutsideTransaction }) =>
      /\bconcurrently\b/.test(statement) &&
      !(isOutsideTransaction && /\bif (?:not )?exists\b/.test(statement)),
    remedy:
      'CONCURRENTLY needs "-- Outside a transaction: <reason>" in its file, and IF [NOT] EXISTS: it may be repeated.',
  },
]

/** How a migration breaks the rules of CONTRIBUTING.md, as sentences; empty if it does not. */
export function brokenRules(
  { tag, sql }: MigrationFile,
  number: number,
  previousOldest: number,
): readonly string[] {
  const stops = STOPS_OLDER_CODE.test(sql)
  const oldest = oldestCodeOf({ tag, sql })
  const problems: string[] = []
  if (oldest === null) problems.push('It records no oldest_code in workflow_migrations.')
  else if (stops && oldest !== number)
    problems.push(`It stops older code, so its oldest_code must be ${number}.`)
  else if (!stops && oldest >= number) {
    problems.push(
      'Its oldest_code stops older code: say why in its first line, "-- Stops older code: <reason>".',
    )
  } else if (oldest < previousOldest) {
    problems.push(`Its oldest_code is less than that of the migration before it, ${previousOldest}.`)
  }
  return stops ? problems : [...problems, ...forbiddenIn(sql)]
}

/** The oldest code that a migration says it allows; null if it does not say. */
export function oldestCodeOf({ tag, sql }: MigrationFile): number | null {
  const [, oldest] = new RegExp(String.raw`\(tag, oldest_code\)\s+VALUES \('${tag}', (\d+)\)`).exec(sql) ?? []
  return oldest === undefined ? null : Number(oldest)
}

function forbiddenIn(sql: string): readonly string[] {
  const statements = bare(sql)
    .split(';')
    .map((statement) => statement.replaceAll(/\s+/g, ' ').trim())
    .filter((statement) => statement !== '')
  const createdTables = new Set(
    statements.map((statement) => CREATED_TABLE.exec(statement)?.[1]).filter((name) => name !== undefined),
  )
  const file = { createdTables, isOutsideTransaction: OUTSIDE_A_TRANSACTION.test(sql) }
  return statements.flatMap((statement) =>
    RULES.filter(({ breaks }) => breaks(statement, file)).map(({ remedy }) => remedy),
  )
}

// The one that begins first wins: a text may contain what looks like a comment, and vice versa.
const NO_SQL = /\$(\w*)\$[\s\S]*?\$\1\$|'(?:[^']|'')*'|--.*$|\/\*[\s\S]*?\*\//gm

/** The SQL in lower case, without comments and texts. */
function bare(sql: string): string {
  return sql.replaceAll(NO_SQL, (found) => (/^[$']/.test(found) ? "''" : ' ')).toLowerCase()
}
