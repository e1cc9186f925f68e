import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { advance } from '../../../../src/core/run/state/advance.ts';
import { openWindow, setUpWindow } from '../runWindow.ts';
import { runOf } from '../sampleRuns.ts';

describe('the run history', () => {
  test('keeps the name the user gives a run, and can reset it', async (t) => {
    const { fixture, window } = await setUpWindow(t);
    await window.store.create(runOf.succeeded);
    const { id } = runOf.succeeded;
    await window.tracker.rename(id, '  Before the release  ');
    const other = openWindow(t, fixture);
    await other.store.reload();
    assert.equal(other.store.get(id)?.label, 'Before the release');
    await other.tracker.rename(id, ' ');
    assert.equal(other.store.get(id)!.label, undefined);
    assert.equal(advance(runOf.succeeded, { type: 'renamed', label: '', at: 1 }), runOf.succeeded);
  });
});
