import type { Settled } from '../../definition/index.ts'

/** Names of the run's steps, of items of its maps: `resize[key]`, and of rounds of its loops: `fetch[3]`. */
export type StepNameOf<Outputs> =
  | (keyof Outputs & string)
  | ItemNameOf<Outputs>
  | `${keyof Outputs & string}[${number}]`

/** The output of a step, of an item of a map, or of a round of a loop. */
export type OutputAt<Outputs, Name> = Name extends keyof Outputs
  ? Outputs[Name]
  : Name extends `${infer Owner}[${infer Key}]`
    ? Owner extends keyof Outputs
      ? ItemOutput<Outputs[Owner]> | RoundOutput<Outputs[Owner], Key>
      : never
    : never

/** What stands in for an output: of a step past whose failure the run continues, what it would have completed with. */
export type StandInFor<Output> = [unknown] extends [Output]
  ? unknown
  : [Exclude<Output, undefined>] extends [never]
    ? Output
    : [Exclude<Output, undefined>] extends [Settled<infer Completed>]
      ? Completed
      : Output

type ItemOutput<Output> = Output extends readonly (infer Item)[] ? OwnOutput<Item> : never

/** An output does not tell whether its step is a loop. */
type RoundOutput<Output, Key> = Key extends `${number}` ? Output : never

/** The output of an item itself: a map that collects failures tells it in a `Settled`. */
type OwnOutput<Output> = [Output] extends [Settled<infer Own>] ? Own : Output

type ItemNameOf<Outputs> = {
  [Name in keyof Outputs & string]: Outputs[Name] extends readonly unknown[] ? `${Name}[${string}]` : never
}[keyof Outputs & string]
