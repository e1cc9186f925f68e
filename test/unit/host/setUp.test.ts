import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setUp } from '../../host/setUp.ts';

test('steps are undone in reverse order, also if a step fails', async () => {
  const undone: string[] = [];
  const make = async (name: string, onUndo: (undo: () => Promise<unknown>) => void): Promise<void> => {
    onUndo(() => Promise.resolve(undone.push(name)));
    await Promise.resolve();
  };
  const failing = setUp(async (onUndo) => {
    await make('one', onUndo);
    await make('two', onUndo);
    throw new Error('three');
  });
  await assert.rejects(failing, /three/);
  assert.deepEqual(undone, ['two', 'one']);
  const { made, dispose } = await setUp(async (onUndo) => {
    await make('four', onUndo);
    return 4;
  });
  assert.deepEqual([made, undone.length], [4, 2]);
  await dispose();
  assert.deepEqual(undone, ['two', 'one', 'four']);
});
