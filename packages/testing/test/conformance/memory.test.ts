import { describeAdapter, memoryHarness } from '../../src/conformance/index.ts'

describeAdapter('memory', { create: async () => memoryHarness() })
