#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# scripts/try_slurm.sh [HCA]: sets up a Slurm cluster of one node (munged, slurmctld, slurmd) in a temporary folder, runs
# a sweep through it and again without it, compares the tables byte by byte, and takes the cluster down. As root; needs
# the Debian packages slurmctld, slurmd, slurm-client and munge. HCA: build/release/hca.
set -euo pipefail
cd "$(dirname "$0")/.."
hca=$(realpath "${1-build/release/hca}")
for program in munged slurmctld slurmd sbatch; do
  command -v "$program" >/dev/null || {
    echo "try_slurm: $program is missing: apt-get install slurmctld slurmd slurm-client munge" >&2
    exit 2
  }
done
if [ "$(id -u)" -ne 0 ]; then
  echo "try_slurm: slurmd wants root" >&2
  exit 2
fi

folder=$(mktemp -d)
chmod 755 "$folder"
pids=()
take_down() {
  local at
  for ((at = ${#pids[@]} - 1; at >= 0; --at)); do
    kill "${pids[at]}" 2>/dev/null || true
    wait "${pids[at]}" 2>/dev/null || true
  done
  rm -rf "$folder"
}
trap take_down EXIT

# Ends with an error when the command does not succeed within 30 s.
wait_for() {
  local tries
  for ((tries = 0; tries < 150; ++tries)); do
    "$@" >/dev/null 2>&1 && return
    sleep 0.2
  done
  echo "try_slurm: waited in vain for: $*" >&2
  tail -n 5 "$folder"/*.log >&2 || true
  exit 1
}

mkdir "$folder/munge" "$folder/state" "$folder/spool"
head -c 1024 /dev/urandom >"$folder/munge/key"
chmod 700 "$folder/munge"
chmod 400 "$folder/munge/key"
munged --foreground --key-file="$folder/munge/key" --socket="$folder/munge.socket" --pid-file="$folder/munge/pid" \
  --log-file="$folder/munge/log" --seed-file="$folder/munge/seed" --num-threads=2 --force >"$folder/munged.log" 2>&1 &
pids+=($!)
wait_for test -S "$folder/munge.socket"

host=$(hostname -s)
# Two free ports.
read -r controller daemon < <(/usr/bin/python3 -c '
import socket
ends = [socket.socket() for _ in range(2)]
for end in ends:
    end.bind(("", 0))
print(*(end.getsockname()[1] for end in ends))')
cat >"$folder/slurm.conf" <<CONF
ClusterName=try
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$controller
SlurmdPort=$daemon
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/munge.socket
CredType=cred/munge
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_interval=1,batch_sched_delay=1
ReturnToService=2
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
CONF
export SLURM_CONF=$folder/slurm.conf
slurmctld -D -f "$SLURM_CONF" >"$folder/slurmctld.out.log" 2>&1 &
pids+=($!)
slurmd -D -f "$SLURM_CONF" -N "$host" >"$folder/slurmd.out.log" 2>&1 &
pids+=($!)
wait_for scontrol ping
node_is_idle() { [ "$(sinfo -h -o %T)" = idle ]; }
wait_for node_is_idle
sinfo

cp testbench/sweeps/wire_and_depth.yaml testbench/scenarios/read_depth.yaml "$folder"
cd "$folder"
sed -i 's|scenario: .*/|scenario: |' wire_and_depth.yaml
"$hca" sweep wire_and_depth.yaml --out by_slurm --slurm -j 2 --wait
"$hca" sweep wire_and_depth.yaml --out here -j 2 2>/dev/null
cmp by_slurm/sweep.csv here/sweep.csv
echo "the tables of both are the same, $(wc -l <here/sweep.csv) lines"

# One point fails, and nobody waits: collected when the queue is empty.
cat >failing.yaml <<'YAML'
scenario: {connection: {service: ud}, workload: [{operation: send, size: 64 B, messages: 100}]}
axes: [{knob: 'workload[0].size', values: [64 B, 2 KiB]}]
YAML
"$hca" sweep failing.yaml --out failing_by_slurm --slurm
queue_is_empty() { [ -z "$(squeue -h)" ]; }
wait_for queue_is_empty
status=0
"$hca" sweep failing.yaml --out failing_by_slurm --collect || status=$?
"$hca" sweep failing.yaml --out failing_here 2>/dev/null || true
cmp failing_by_slurm/sweep.csv failing_here/sweep.csv
[ "$status" = 1 ]
echo "the tables with a point that fails are the same"
