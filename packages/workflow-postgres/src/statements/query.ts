import type { Statement } from '../connection/statement.ts'

/** A column of rows that travel as arrays: its name and type in SQL, and its value of each row, and of what the row belongs to. */
export type Column<Row, Owner = unknown> = readonly [
  name: string,
  type: string,
  value: (row: Row, owner: Owner) => unknown,
]

/** Texts are alike for alike parts, so that each is made and prepared for a schema only once. */
const made = new Map<string, Statement<never>>()
const MADE_MAX = 1_000
/** A session keeps the plan of each text that it has prepared: of so many, those that came first and come most often. */
const PREPARED_MAX = 100

/** A statement of parts, of which those that have nothing to say are left out. */
export class Query {
  readonly values: unknown[] = []
  readonly #parts: string[] = []

  /** The parameter with this value. */
  value(value: unknown): string {
    return `$${this.values.push(value)}`
  }

  /** Rows under a name: `unnest($3::uuid[], $4::int[]) as given (run_id, unit)`. */
  rows<Row>(name: string, rows: readonly Row[], columns: readonly Column<Row>[]): string {
    return this.#unnest(
      name,
      columns,
      columns.map(([, , value]) => rows.map((row) => value(row, undefined))),
    )
  }

  /** Rows that belong to others, under a name; null if there are none. */
  rowsOf<Owner, Row>(
    name: string,
    owners: readonly Owner[],
    rowsOf: (owner: Owner) => readonly Row[],
    columns: readonly Column<Row, Owner>[],
  ): string | null {
    if (owners.every((owner) => rowsOf(owner).length === 0)) return null
    const valuesOf = ([, , value]: Column<Row, Owner>): unknown[] => {
      const values: unknown[] = []
      for (const owner of owners) for (const row of rowsOf(owner)) values.push(value(row, owner))
      return values
    }
    return this.#unnest(name, columns, columns.map(valuesOf))
  }

  /** JSON travels in one array of JSON: each of its texts quoted within an array of Postgres would cost more than all else. Null there is JSON’s own. */
  #unnest(
    name: string,
    columns: readonly (readonly [name: string, type: string, value: unknown])[],
    arrays: readonly unknown[][],
  ): string {
    const parts: string[] = []
    const [plain, json]: [string[], string[]] = [[], []]
    const lists: string[] = []
    for (const [index, [column, type]] of columns.entries()) {
      if (type === 'json') {
        json.push(column)
        lists.push(`json_array_elements(${this.value(`[${arrays[index]!.join()}]`)}::json)`)
      } else {
        plain.push(column)
        parts.push(`${this.value(arrays[index])}::${type}[]`)
      }
    }
    const unnest = `unnest(${parts.join(', ')})`
    const as = `as ${name} (${[...plain, ...json].join(', ')})`
    return lists.length === 0 ? `${unnest} ${as}` : `rows from (${[unnest, ...lists].join(', ')}) ${as}`
  }

  /** One more part: `name as (…)`. */
  part(name: string, text: string): void {
    this.#parts.push(`${name} as (${text})`)
  }

  /** The statement whose last part is `select`. It finds all rows by their keys, whatever the statistics say: `plans.test.ts` looks after that. */
  statement<Row>(name: string, select: string): Statement<Row> {
    const text = `with ${this.#parts.join(',\n')}\n${select}`
    const known = made.get(text)
    if (known !== undefined) return known as Statement<Row>
    const statement: Statement<Row> = { name: made.size < PREPARED_MAX ? name : null, text }
    if (made.size < MADE_MAX) made.set(text, statement as Statement<never>)
    return statement
  }
}

/** Epoch milliseconds of a column. */
export const msOf = (column: string): string => `(extract(epoch from ${column}) * 1000)::float8`

/** The instant of epoch milliseconds. */
export const instantOf = (ms: string): string => `to_timestamp(${ms} / 1000)`

/** The worker’s row, held so that it cannot be declared dead meanwhile; nothing if it is dead, or in another epoch. */
export const GUARD = `select w.number from belay.workflow_workers w
  where w.number = $1::int and w.epoch = $2::int and w.alive for key share`

/** How a run stands among others, once it is due. */
export const placeOf = (due: string, lead: string): string => `${due} - ${lead} * interval '1 minute'`
