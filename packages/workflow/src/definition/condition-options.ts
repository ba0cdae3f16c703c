import type { WhenContext } from './condition.ts'
import type { OnFailure, OUTCOMES, Settled } from './settled.ts'

/** The output of a step that may be skipped, as outputs carry it until somebody reads it. */
export interface MaybeSkipped<Output> {
  readonly '~maybeSkipped': Output
}

/** The output of a choice, likewise. */
export interface Chosen<Case extends string> {
  readonly '~chosen': Case
}

/** The output of a step past whose failure the run continues, likewise. */
export interface MayFail<Output> {
  readonly '~mayFail': Output
}

/** A step's output as its outputs carry it: marked, if the run continues past its failure. */
export type Failing<Output, On extends OnFailure> = On extends 'continue' ? MayFail<Output> : Output

/** What happens to a step when a dependency was skipped. */
export type OnSkipped = 'skip' | 'run'

/** For each choice the case or cases with which a step runs. */
export type Cases = Readonly<Record<string, string | readonly string[] | readonly []>>

/** For a step without cases. */
export type NoCases = Readonly<Record<never, never>>

/** What the function of a `when` may return. */
export type Answer = boolean | Promise<boolean>

/** The options of every kind of step that decide whether it runs. `Deps`: what its dependencies returned. */
export interface ConditionOptions<
  Input,
  Outputs,
  Deps,
  Skipping extends OnSkipped,
  Given extends Answer,
  Wanted extends Cases,
> {
  /**
   * When the step runs. A function is asked once, before the step begins, and its answer is stored: a retry or a crash never asks again. Or give
   * the case of a choice, like `{ method: 'card' }`: the step then depends on that choice. Otherwise the step is skipped.
   */
  readonly when?:
    | ((context: WhenContext<Input, Deps>) => Given)
    | (CheckedCases<Wanted, Outputs> & NoFunction)
    | undefined
  /**
   * What happens when a dependency was skipped. `skip`, the default: the step is skipped too. `run`: it runs, and that dependency's output is
   * undefined. A step is always skipped with a choice that its `when` names.
   */
  readonly onSkipped?: Skipping | undefined
}

/** Every object fits an empty list of cases, also a function that returns neither true nor false. */
interface NoFunction {
  readonly [Symbol.hasInstance]?: never
}

/** The output of a step as its outputs carry it: marked, if the step may be skipped. */
export type Branched<Output, Outputs, Deps extends readonly string[], Skipping, Given, Wanted> = [
  Given | keyof Wanted | SkippedWith<Outputs, Deps, Skipping>,
] extends [never]
  ? Output
  : MaybeSkipped<Output>

/** The dependencies with which a step is skipped; never for none. */
type SkippedWith<Outputs, Deps extends readonly string[], Skipping> = Skipping extends 'run'
  ? never
  : {
      [Name in Deps[number] & keyof Outputs]: IsMarked<Outputs[Name]> extends true ? Name : never
    }[Deps[number] & keyof Outputs]

type IsMarked<Output> = [Output] extends [never]
  ? false
  : unknown extends Output
    ? false
    : Output extends MaybeSkipped<unknown>
      ? true
      : false

/** An output as a dependent or a caller reads it. It may be missing only for those who go on without it. */
export type ReadOutput<Output, Skipping> =
  Output extends MaybeSkipped<infer Kept>
    ? ReadCase<Kept> | (Skipping extends 'run' ? undefined : never)
    : ReadCase<Output>

// Not distributive: an output may be a union, or unknown.
type ReadCase<Output> = [unknown] extends [Output]
  ? Output
  : [Output] extends [never]
    ? never
    : [Output] extends [MayFail<infer Kept>]
      ? Settled<Kept>
      : Output extends Chosen<infer Case>
        ? Case
        : Output

/** The outputs of the steps that a step's `when` names: choices have one of the wanted cases, other steps have ended in one of the wanted ways. */
export type ChosenDeps<Outputs, Wanted> = {
  readonly [Name in keyof Wanted]: ChosenDep<
    Name extends keyof Outputs ? Outputs[Name] : unknown,
    Wanted[Name] extends readonly string[] ? Wanted[Name][number] : Wanted[Name]
  >
}

type ChosenDep<Output, Case> = unknown extends Output
  ? Case
  : Output extends MaybeSkipped<infer Kept>
    ? ChosenOf<Kept, Case>
    : ChosenOf<Output, Case>

type ChosenOf<Output, Case> = [Output] extends [MayFail<infer Kept>]
  ? Extract<Settled<Kept>, { readonly status: Case }>
  : Case

/** The given cases; a sentence in place of each that is wrong. No conditional type: the compiler would infer arrays of plain strings. */
export type CheckedCases<Wanted, Outputs> = {
  readonly [Name in keyof Wanted]: Name extends keyof Outputs
    ? RightCase<Name, Wanted[Name], CasesIn<Outputs[Name]>>
    : `Step "${Name & string}" is not defined before this step: define it first, or correct the name.`
}

type RightCase<Name, Given, Known> = [Known] extends [never]
  ? `Step "${Name & string}" is not a choice: give when a function that looks at deps, define the step with choose(), or give it onFailure: 'continue'.`
  : Given extends readonly string[]
    ? { readonly [Index in keyof Given]: OneOf<Name, Given[Index], Known> }
    : OneOf<Name, Given, Known>

type OneOf<Name, Given, Known> = Given extends Known
  ? Given
  : `Step "${Name & string}" has no case "${Given & string}": name one of its cases.`

/** The cases of a choice; never if the step is none. A helper that does not know the steps may name any. */
type CasesIn<Output> = unknown extends Output
  ? string
  : Output extends MaybeSkipped<infer Kept>
    ? ReadCases<Kept>
    : ReadCases<Output>

type ReadCases<Output> = [Output] extends [never]
  ? never
  : [Output] extends [MayFail<unknown>]
    ? (typeof OUTCOMES)[number]
    : Output extends Chosen<infer Case>
      ? Case
      : never
