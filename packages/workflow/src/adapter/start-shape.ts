import type { CollectMode } from './collect-mode.ts'

/** What a process must know to start runs of a definition. */
export interface StartShape {
  /** How the calls that start its runs are collected. Absent if each call starts a run. */
  readonly collects?: CollectMode | undefined
  /** Starts are refused at a limit, whose keys only code tells. Not part of the checksum. */
  readonly refuses?: true | undefined
}
