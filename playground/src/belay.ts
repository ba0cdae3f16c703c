/** What the reader's code imports as `@belay/workflow`: the same module that the worker's engine is of. */
export * from '@belay/workflow'
